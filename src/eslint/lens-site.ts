import { type AstNode, isFunction, propertyOf, unwrap } from './ast-node.js';
import { lensCallOf } from './lens-name.js';
import type { Source } from './lens-rule.js';
import { valueOf } from './static-value.js';

/** A place in the code that names a group: a call of `managedSpan`, `traceFn`, `@SpanGroup` or `isSpanGroupEnabled`. */
export interface LensSite {
  readonly callee: 'managedSpan' | 'traceFn' | 'SpanGroup' | 'isSpanGroupEnabled';
  readonly group: AstNode | undefined;
  /** The value of its option `attributes`. */
  readonly attributes: AstNode | undefined;
}

/** The index of the options among the arguments. */
const OPTIONS_AT: Record<LensSite['callee'], number | undefined> = {
  managedSpan: 2,
  traceFn: 2,
  SpanGroup: 1,
  isSpanGroupEnabled: undefined,
};

const isSite = (name: string | undefined): name is LensSite['callee'] =>
  name !== undefined && Object.hasOwn(OPTIONS_AT, name);

/** The site of a call; undefined for every other call. */
export function siteOf(call: AstNode, source: Source): LensSite | undefined {
  const callee = lensCallOf(call, source);
  if (!isSite(callee)) return undefined;
  const given = call.arguments ?? [];
  const optionsAt = OPTIONS_AT[callee];
  const options = optionsAt === undefined ? undefined : given[optionsAt];
  const [group] = given;
  return {
    callee,
    group: group?.type === 'SpreadElement' ? undefined : group,
    attributes: options && readOption(options, 'attributes', source),
  };
}

function readOption(options: AstNode, name: string, source: Source): AstNode | undefined {
  if (isFunction(unwrap(options))) return undefined;
  const value = valueOf(options, source);
  return value.type === 'ObjectExpression' ? propertyOf(value, name) : undefined;
}
