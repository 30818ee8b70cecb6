/**
 * A node of the syntax tree, with the fields that the rules read. All kinds have one shape, because ESLint's own types know
 * neither decorators nor TypeScript, and users may choose any parser.
 */
export interface AstNode {
  readonly type: string;
  readonly parent?: AstNode | null;
  readonly name?: unknown;
  readonly value?: unknown;
  readonly kind?: string;
  readonly async?: boolean;
  readonly generator?: boolean;
  readonly computed?: boolean;
  readonly static?: boolean;
  readonly readonly?: boolean;
  readonly operator?: string;
  readonly callee?: AstNode;
  readonly arguments?: readonly AstNode[];
  readonly object?: AstNode;
  readonly property?: AstNode;
  readonly key?: AstNode;
  readonly id?: AstNode | null;
  readonly expression?: unknown;
  readonly expressions?: readonly AstNode[];
  readonly quasis?: readonly AstNode[];
  readonly elements?: readonly (AstNode | null)[];
  readonly properties?: readonly AstNode[];
  readonly members?: readonly AstNode[];
  readonly initializer?: AstNode | null;
  readonly body?: unknown;
  readonly argument?: AstNode | null;
  readonly left?: AstNode;
  readonly right?: AstNode;
  readonly consequent?: unknown;
  readonly alternate?: unknown;
  readonly source?: AstNode | null;
  readonly imported?: AstNode;
  readonly moduleReference?: AstNode;
  readonly decorators?: readonly AstNode[];
}

export function isNode(value: unknown): value is AstNode {
  return typeof value === 'object' && value !== null && typeof (value as AstNode).type === 'string';
}

const WRAPPERS = new Set([
  'TSAsExpression',
  'TSSatisfiesExpression',
  'TSNonNullExpression',
  'TSTypeAssertion',
  'TSInstantiationExpression',
  'ChainExpression',
  'ParenthesizedExpression',
]);

export const isWrapper = (node: AstNode): boolean => WRAPPERS.has(node.type);

/** The expression without wrappers that keep its value: `x as const`, `x!`, `(x)`. */
export function unwrap(node: AstNode): AstNode {
  let inner = node;
  while (isWrapper(inner) && isNode(inner.expression)) inner = inner.expression;
  return inner;
}

const FUNCTIONS = new Set(['ArrowFunctionExpression', 'FunctionExpression', 'FunctionDeclaration']);

export const isFunction = (node: AstNode): boolean => FUNCTIONS.has(node.type);

/** Whether a node is evaluated at each call: inside a function, or in the field of an instance. */
export function isInsideFunction(node: AstNode): boolean {
  for (let at = node.parent; at; at = at.parent) {
    if (isFunction(at) || (at.type === 'PropertyDefinition' && at.static !== true)) return true;
  }
  return false;
}

/** `orders` of `x.orders`, `x['orders']`, `{ orders: 1 }` and `{ 'orders': 1 }`; undefined if only running the code tells. */
export function keyOf(node: AstNode): string | undefined {
  const key = node.property ?? node.key ?? node.id;
  if (!key) return undefined;
  // The names in an enum are never computed.
  if (key.type === 'Identifier' && (node.type === 'TSEnumMember' || node.computed !== true))
    return String(key.name);
  const literal = unwrap(key);
  if (literal.type === 'Literal') return String(literal.value);
  return literal.type === 'TemplateLiteral' && literal.quasis?.length === 1 ? cookedText(literal) : undefined;
}

/** The text of a template without expressions. */
export function cookedText(template: AstNode): string | undefined {
  const value = template.quasis?.[0]?.value as { cooked?: string | null } | undefined;
  return value?.cooked ?? undefined;
}

/** The value of a property in an object literal; undefined if there is none, or if it is a getter. */
export function propertyOf(object: AstNode, key: string): AstNode | undefined {
  const property = object.properties?.find((each) => each.type === 'Property' && keyOf(each) === key);
  return isNode(property?.value) && property.kind === 'init' ? property.value : undefined;
}
