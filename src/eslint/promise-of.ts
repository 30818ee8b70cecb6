import { type AstNode, isFunction, isNode, keyOf, unwrap } from './ast-node.js';
import { findVariable, onlyWriteOf } from './find-variable.js';
import { lensCallOf } from './lens-name.js';
import type { Source } from './lens-rule.js';

const MAX_DEPTH = 5;

/** The body of a call of `managedSpan` or `withSpan`; undefined for every other call. */
export function spanBodyOf(call: AstNode, source: Source): AstNode | undefined {
  const name = lensCallOf(call, source);
  const at = name === 'managedSpan' ? 2 : name === 'withSpan' ? 1 : undefined;
  return at === undefined ? undefined : (call.arguments?.[at + 1] ?? call.arguments?.[at]);
}

/** Whether a function surely returns a promise, by its syntax. There is no type information here. */
export function givesPromise(node: AstNode, source: Source, depth = 0): boolean {
  const fn = functionBehind(node, source);
  if (fn === undefined || depth > MAX_DEPTH || fn.generator === true) return false;
  if (fn.async === true) return true;
  if (!isNode(fn.body)) return false;
  if (fn.body.type !== 'BlockStatement') return isPromise(fn.body, source, depth + 1);
  const { body } = fn.body as { body?: unknown };
  return returnsIn(body as readonly AstNode[]).some((each) => isPromise(each, source, depth + 1));
}

function isPromise(node: AstNode, source: Source, depth: number): boolean {
  const value = unwrap(node);
  if (value.type === 'ImportExpression') return true;
  if (value.type === 'NewExpression') return value.callee?.name === 'Promise';
  if (value.type !== 'CallExpression') return false;
  const callee = unwrap(value.callee!);
  if (callee.type === 'MemberExpression') {
    const { object } = callee;
    if (object?.name === 'Promise') return true;
    const key = keyOf(callee) ?? '';
    if (['then', 'catch', 'finally'].includes(key)) return true;
    if (object?.type === 'ThisExpression') return isAsyncMethod(callee, key);
  }
  const body = spanBodyOf(value, source);
  if (body !== undefined) return givesPromise(body, source, depth + 1);
  if (callee.type !== 'Identifier') return false;
  if (callee.name === 'fetch' && findVariable(callee, source) === undefined) return true;
  return givesPromise(callee, source, depth + 1);
}

function functionBehind(node: AstNode, source: Source): AstNode | undefined {
  const expression = unwrap(node);
  if (isFunction(expression)) return expression;
  if (expression.type !== 'Identifier') return undefined;
  const variable = findVariable(expression, source);
  const made = variable && (onlyWriteOf(variable)?.expression ?? variable.defs[0]!.node);
  return made && isFunction(made) ? made : undefined;
}

/** The values that the statements of a function return, without those of inner functions. */
function returnsIn(statements: readonly AstNode[]): AstNode[] {
  return statements.flatMap((statement) => {
    if (statement.type === 'ReturnStatement') return statement.argument ? [statement.argument] : [];
    if (isFunction(statement) || statement.type.startsWith('Class')) return [];
    const inner = ['body', 'consequent', 'alternate', 'block', 'handler', 'finalizer', 'cases']
      .map((key) => (statement as unknown as Record<string, unknown>)[key])
      .flat();
    return returnsIn(inner.filter(isNode));
  });
}

/** `this.save(…)`, where the class of this file has an `async save()`. */
function isAsyncMethod(call: AstNode, key: string): boolean {
  for (let at = call.parent; at; at = at.parent) {
    if (at.type !== 'ClassBody') continue;
    const member = (at.body as readonly AstNode[]).find((each) => keyOf(each) === key);
    return isNode(member?.value) && member.value.async === true && member.value.generator !== true;
  }
  return false;
}
