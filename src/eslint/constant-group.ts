import { type AstNode, isNode, keyOf, unwrap } from './ast-node.js';
import { findVariable, onlyWriteOf } from './find-variable.js';
import { defineRule, type Source } from './lens-rule.js';
import { siteOf } from './lens-site.js';
import { textOf, valueOf } from './static-value.js';

const MAX_DEPTH = 8;

/** The group of a site should be a literal or a constant, so that readers can find it and its owner can register it. */
export const constantGroup = defineRule({
  type: 'problem',
  description: 'Name the group of a site by a literal or a constant of a definition.',
  messages: {
    computed:
      'Use a literal or a constant for the name of a group, such as `shop.group("orders")`. A computed name may be one that nobody has registered; its span is then never made.',
  },
  create: ({ sourceCode, report }) => ({
    CallExpression(node) {
      const group = siteOf(node, sourceCode)?.group;
      if (group !== undefined && !isConstant(group, sourceCode))
        report({ node: group, messageId: 'computed' });
    },
  }),
});

function isConstant(node: AstNode, source: Source, depth = 0): boolean {
  const value = unwrap(node);
  if (depth > MAX_DEPTH) return true;
  const all = (...sides: unknown[]): boolean =>
    sides.every((side) => isNode(side) && isConstant(side, source, depth + 1));
  switch (value.type) {
    case 'Literal':
      return typeof value.value === 'string';
    case 'TemplateLiteral':
    case 'BinaryExpression':
      return textOf(value, source) !== undefined;
    // A choice of two constants is as easy to find as one.
    case 'ConditionalExpression':
      return all(value.consequent, value.alternate);
    case 'LogicalExpression':
      return all(value.left, value.right);
    case 'CallExpression':
      return isGroupOfDefinition(value, source, depth);
    case 'Identifier':
      return isConstantVariable(value, source, depth);
    case 'MemberExpression':
      return isConstantMember(value, source, depth);
    default:
      return false;
  }
}

/** `shop.group('orders')`. An imported `shop` can't be seen, so the method's name decides. */
function isGroupOfDefinition({ callee, arguments: given }: AstNode, source: Source, depth: number): boolean {
  const method = unwrap(callee!);
  if (method.type !== 'MemberExpression' || keyOf(method) !== 'group') return false;
  return given?.[0] !== undefined && isConstant(given[0], source, depth + 1);
}

function isConstantVariable(identifier: AstNode, source: Source, depth: number): boolean {
  const variable = findVariable(identifier, source);
  // The variable comes from elsewhere; a capital letter says that it is meant as a constant.
  if (variable === undefined) return /^[A-Z]/.test(String(identifier.name));
  const { type } = variable.defs[0]!;
  if (['ImportBinding', 'TSEnumName', 'TSModuleName', 'ClassName'].includes(type)) return true;
  const write = onlyWriteOf(variable);
  if (write === undefined) return false;
  return write.key === undefined
    ? isConstant(write.expression, source, depth + 1) || isConstantOwner(write.expression, source, depth + 1)
    : isConstantOwner(write.expression, source, depth + 1);
}

/** `GROUPS.orders`, `Groups.Orders`, `OrdersService.GROUP`, `this.GROUP`, `GROUPS[kind]`. */
function isConstantMember(member: AstNode, source: Source, depth: number): boolean {
  if (unwrap(member.object!).type === 'ThisExpression') {
    const field = valueOf(member, source);
    return field !== member && isConstant(field, source, depth + 1);
  }
  return isConstantOwner(member.object!, source, depth + 1);
}

/** Whether the whole content of an object is written down somewhere: a literal, an import, an enum, a class, a definition. */
function isConstantOwner(node: AstNode, source: Source, depth: number): boolean {
  const owner = unwrap(node);
  if (depth > MAX_DEPTH) return true;
  switch (owner.type) {
    case 'Identifier':
      return isConstantVariable(owner, source, depth + 1);
    case 'MemberExpression':
      return isConstantOwner(owner.object!, source, depth + 1);
    case 'ObjectExpression':
      return owner.properties!.every(
        ({ type, value }) =>
          type !== 'Property' ||
          (isNode(value) &&
            (isConstant(value, source, depth + 1) || isConstantOwner(value, source, depth + 1))),
      );
    case 'ArrayExpression':
      return owner.elements!.every((each) => each === null || isConstant(each, source, depth + 1));
    case 'CallExpression': {
      const callee = unwrap(owner.callee!);
      const [given] = owner.arguments ?? [];
      const called = callee.type === 'MemberExpression' ? keyOf(callee) : String(callee.name);
      if (called === 'freeze') return given !== undefined && isConstantOwner(given, source, depth + 1);
      return called === 'defineSpanGroups' || called === 'require';
    }
    default:
      return false;
  }
}
