import { type AstNode, isFunction, isWrapper, keyOf } from './ast-node.js';
import { defineRule } from './lens-rule.js';
import { givesPromise, spanBodyOf } from './promise-of.js';

/**
 * Reports a promise that isn't awaited: its failure would be an unhandled rejection, and the span around it would end too
 * early.
 */
export const noDroppedPromise = defineRule({
  type: 'problem',
  description: 'Await, return or handle the promise of managedSpan and withSpan.',
  messages: {
    dropped:
      'Nothing awaits this promise: if the work fails, that is an unhandled rejection, and a span around this call ends before the work does. Write `await` or `return`; `void` says that it is intentional.',
  },
  create: ({ sourceCode, report }) => ({
    CallExpression(node) {
      if (!isDropped(node)) return;
      const body = spanBodyOf(node, sourceCode);
      if (body !== undefined && givesPromise(body, sourceCode)) report({ node, messageId: 'dropped' });
    },
  }),
});

function isDropped(node: AstNode): boolean {
  const { parent } = node;
  if (!parent) return false;
  if (isWrapper(parent)) return isDropped(parent);
  switch (parent.type) {
    case 'ExpressionStatement':
      return true;
    case 'SequenceExpression':
      return parent.expressions!.at(-1) !== node || isDropped(parent);
    case 'LogicalExpression':
      return parent.right === node && isDropped(parent);
    case 'ConditionalExpression':
      return (parent.consequent === node || parent.alternate === node) && isDropped(parent);
    case 'MemberExpression':
      return parent.object === node && isDroppedAfter(parent);
    case 'ArrowFunctionExpression':
      return parent.body === node && isForEach(parent);
    default:
      return false;
  }
}

/** `.then(…)` and `.finally(…)` pass the failure on; `.catch(…)` and `.then(…, …)` handle it. */
function isDroppedAfter(member: AstNode): boolean {
  const call = member.parent;
  if (call?.type !== 'CallExpression' || call.callee !== member) return false;
  const key = keyOf(member);
  const handsOn = key === 'finally' || (key === 'then' && (call.arguments?.length ?? 0) < 2);
  return handsOn && isDropped(call);
}

/** `list.forEach((each) => managedSpan(…))` drops the result of the function. */
function isForEach(fn: AstNode): boolean {
  const call = fn.parent;
  const isCallback = call?.type === 'CallExpression' && call.arguments?.[0] === fn && isFunction(fn);
  return isCallback && call.callee?.type === 'MemberExpression' && keyOf(call.callee) === 'forEach';
}
