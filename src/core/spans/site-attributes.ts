import type { Attributes } from '@opentelemetry/api';
import { emitOnce } from '../diagnostics/emit-once.js';
import { ignoreRejection } from './ignore-rejection.js';

/** The attribute with the group of a gated span. The attributes of a site can't replace it. */
export const GROUP_ATTRIBUTE = 'nestlens.group';

/**
 * Adds the attributes of a site: an object, or a function that returns one. If reading them throws, the attributes read so
 * far are added, one warning per site says so, and the traced call goes on.
 */
export function addSiteAttributes(
  attributes: Attributes,
  span: string,
  group: string | undefined,
  given: Attributes | (() => Attributes) | undefined,
): void {
  try {
    const own: unknown = typeof given === 'function' ? given() : given;
    ignoreRejection(own);
    if (typeof own === 'object') Object.assign(attributes, own);
  } catch (error) {
    emitOnce(`${group} ${span}`, { code: 'ATTRIBUTES_FAILED', details: { span, error } });
  }
  if (group !== undefined) attributes[GROUP_ATTRIBUTE] = group;
}
