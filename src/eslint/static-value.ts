import { type AstNode, cookedText, isNode, keyOf, propertyOf, unwrap } from './ast-node.js';
import { findVariable, onlyWriteOf } from './find-variable.js';
import type { Source } from './lens-rule.js';

const MAX_DEPTH = 8;

/** A text that is the same on each run, with its place. */
export interface StaticText {
  readonly text: string;
  readonly node: AstNode;
}

/**
 * The value of an expression, through constants, members of constant objects, enums and static fields of this file: the node
 * of the value, or the last one that was found.
 */
export function valueOf(node: AstNode, source: Source, depth = 0): AstNode {
  const expression = unwrap(node);
  if (depth > MAX_DEPTH) return expression;
  const follow = (next: AstNode | undefined): AstNode =>
    next === undefined ? expression : valueOf(next, source, depth + 1);
  if (expression.type === 'Identifier') {
    const variable = findVariable(expression, source);
    if (variable === undefined) return expression;
    const { node: definition } = variable.defs[0]!;
    if (['TSEnumDeclaration', 'ClassDeclaration', 'FunctionDeclaration'].includes(definition.type)) {
      return definition;
    }
    const write = onlyWriteOf(variable);
    if (write === undefined) return expression;
    return follow(
      write.key === undefined
        ? write.expression
        : memberOf(valueOf(write.expression, source, depth + 1), write.key),
    );
  }
  if (expression.type === 'MemberExpression') {
    const key = keyOf(expression);
    if (key === undefined) return expression;
    const owner =
      expression.object!.type === 'ThisExpression'
        ? classAround(expression)
        : valueOf(expression.object!, source, depth + 1);
    return follow(owner && memberOf(owner, key));
  }
  if (expression.type === 'CallExpression' && isObjectFreeze(expression)) {
    return follow(expression.arguments?.[0]);
  }
  return expression;
}

/** The text of a constant expression; undefined if the file doesn't show it. */
export function textOf(node: AstNode, source: Source, depth = 0): StaticText | undefined {
  const value = valueOf(node, source);
  if (value.type === 'Literal' && typeof value.value === 'string') return { text: value.value, node: value };
  if (depth > MAX_DEPTH) return undefined;
  if (value.type === 'BinaryExpression' && value.operator === '+') {
    const [left, right] = [value.left!, value.right!].map((side) => textOf(side, source, depth + 1)?.text);
    return left === undefined || right === undefined ? undefined : { text: left + right, node: value };
  }
  if (value.type !== 'TemplateLiteral') return undefined;
  const parts = (value.quasis ?? []).flatMap((quasi, index) => {
    const inner = value.expressions?.[index];
    const fixed = cookedText({ ...value, quasis: [quasi] });
    return inner === undefined ? [fixed] : [fixed, textOf(inner, source, depth + 1)?.text];
  });
  return parts.includes(undefined) ? undefined : { text: parts.join(''), node: value };
}

/** The items of a literal list: `['a', 'b']`, `new Set(['a'])`, or a constant with one. */
export function elementsOf(node: AstNode, source: Source): AstNode[] {
  const value = valueOf(node, source);
  if (value.type === 'NewExpression' && value.arguments?.[0]) return elementsOf(value.arguments[0], source);
  return (value.elements ?? []).flatMap((element) => {
    if (element?.type === 'SpreadElement') return elementsOf(element.argument!, source);
    return element ? [element] : [];
  });
}

function memberOf(owner: AstNode, key: string): AstNode | undefined {
  if (owner.type === 'ObjectExpression') return propertyOf(owner, key);
  if (owner.type === 'TSEnumDeclaration') {
    const body = owner.body as { members?: readonly AstNode[] } | undefined;
    const member = (body?.members ?? owner.members)?.find((each) => keyOf(each) === key);
    return member?.initializer ?? undefined;
  }
  if (owner.type === 'ClassDeclaration' || owner.type === 'ClassExpression') {
    const { body } = owner.body as { body: readonly AstNode[] };
    const field = body.find((each) => each.type === 'PropertyDefinition' && keyOf(each) === key);
    return isNode(field?.value) && (field.static === true || field.readonly === true)
      ? field.value
      : undefined;
  }
  return undefined;
}

function classAround(node: AstNode): AstNode | undefined {
  for (let at = node.parent; at; at = at.parent) {
    if (at.type === 'ClassDeclaration' || at.type === 'ClassExpression') return at;
  }
  return undefined;
}

function isObjectFreeze({ callee }: AstNode): boolean {
  return (
    callee?.type === 'MemberExpression' && callee.object?.name === 'Object' && keyOf(callee) === 'freeze'
  );
}
