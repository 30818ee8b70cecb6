import { type AstNode, isFunction, isInsideFunction, isNode, keyOf, unwrap } from './ast-node.js';
import { findVariable, isOfModule, onlyWriteOf } from './find-variable.js';
import { defineRule, type Source } from './lens-rule.js';
import { siteOf } from './lens-site.js';

const MAX_DEPTH = 8;

/** Attributes of a site should be built behind its gate: by a function, or inside the body. */
export const attributesAsFunction = defineRule({
  type: 'problem',
  description:
    'Give the attributes of a site as a function, so that nothing is built while its group is off.',
  messages: {
    built:
      'These attributes are built on each call, also while the group is off. Give a function: `attributes: () => ({ … })`, or set them on the span inside the body.',
    decorator:
      '@SpanGroup takes its attributes as a function of the arguments: `attributes: (id) => ({ … })`.',
  },
  create: ({ sourceCode, report }) => ({
    CallExpression(node) {
      const site = siteOf(node, sourceCode);
      if (site?.attributes === undefined) return;
      // The arguments of a `traceFn` at module level are built once.
      if (site.callee === 'traceFn' && !isInsideFunction(node)) return;
      const built = builtBeforehand(site.attributes, sourceCode);
      const messageId = site.callee === 'SpanGroup' ? 'decorator' : 'built';
      if (built !== undefined) report({ node: built, messageId });
    },
  }),
});

/** The expression that makes an object each time the site runs; undefined for functions, and for objects that are made once. */
function builtBeforehand(node: AstNode, source: Source, depth = 0): AstNode | undefined {
  const value = unwrap(node);
  const either = (...sides: unknown[]): AstNode | undefined =>
    sides.map((side) => isNode(side) && builtBeforehand(side, source, depth + 1)).find(isNode);
  if (depth > MAX_DEPTH) return undefined;
  switch (value.type) {
    case 'ObjectExpression':
    case 'NewExpression':
      return value;
    case 'AwaitExpression':
      return either(value.argument);
    case 'ConditionalExpression':
      return either(value.consequent, value.alternate);
    case 'LogicalExpression':
      return either(value.left, value.right);
    case 'CallExpression':
      return givesFunction(value, source) ? undefined : value;
    case 'ArrowFunctionExpression':
      // In `() => attributes` with an object from above, the function is only a wrapper.
      return isNode(value.body) && unwrap(value.body).type === 'Identifier'
        ? builtInVariable(unwrap(value.body), source, depth, 'ObjectExpression')
        : undefined;
    case 'Identifier':
      return builtInVariable(value, source, depth);
    default:
      return undefined;
  }
}

function builtInVariable(
  identifier: AstNode,
  source: Source,
  depth: number,
  type?: string,
): AstNode | undefined {
  const variable = findVariable(identifier, source);
  if (variable === undefined || isOfModule(variable)) return undefined;
  const write = onlyWriteOf(variable);
  if (write === undefined || write.key !== undefined) return undefined;
  if (type !== undefined) {
    // If other code needs the object too, it costs nothing more.
    const reads = variable.references.filter((reference) => !reference.isWrite()).length;
    if (reads !== 1 || unwrap(write.expression).type !== type) return undefined;
  }
  return builtBeforehand(write.expression, source, depth + 1);
}

/** Whether a call seems to make a function, which is then called behind the gate. */
function givesFunction(call: AstNode, source: Source): boolean {
  if (call.arguments?.some((each) => isFunction(unwrap(each)))) return true;
  const callee = unwrap(call.callee!);
  if (callee.type === 'MemberExpression') return keyOf(callee) === 'bind';
  if (callee.type !== 'Identifier') return false;
  const variable = findVariable(callee, source);
  const made = variable && (onlyWriteOf(variable)?.expression ?? variable.defs[0]!.node);
  return made !== undefined && isFunction(made) && returnsFunction(made);
}

function returnsFunction({ body }: AstNode): boolean {
  if (!isNode(body)) return false;
  if (body.type !== 'BlockStatement') return isFunction(unwrap(body));
  return (body.body as readonly AstNode[]).some(
    (statement) =>
      statement.type === 'ReturnStatement' && !!statement.argument && isFunction(unwrap(statement.argument)),
  );
}
