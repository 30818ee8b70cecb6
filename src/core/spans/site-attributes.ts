import type { Attributes } from '@opentelemetry/api';
import { emitOnce } from '../diagnostics/emit-once.js';
import { ignoreRejection } from './ignore-rejection.js';

/** The attribute that names the group of a gated span. Nothing that a site gives can hide it. */
export const GROUP_ATTRIBUTE = 'nestlens.group';

/**
 * Adds what a site gives as attributes: an object, or a function that returns one. If it throws while it is read, what came
 * before that is added; a warning says so once a site, and the call that is traced goes on.
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
