import { type AstNode, isNode, keyOf, unwrap } from './ast-node.js';
import { findVariable, writesOf } from './find-variable.js';
import type { Source } from './lens-rule.js';

const LENS_MODULES = new Set(['nest-lens', 'nest-lens/core', 'nest-lens/fallbacks']);

/** Aliases of aliases are followed this deep. */
const MAX_DEPTH = 8;

const isLensModule = (specifier: unknown): boolean =>
  isNode(specifier) && specifier.type === 'Literal' && LENS_MODULES.has(String(specifier.value));

/** The name in NestLens that an expression stands for, under any local name: `managedSpan`, `SpanGroup`. */
export function lensNameOf(node: AstNode, source: Source, depth = 0): string | undefined {
  const expression = unwrap(node);
  if (depth > MAX_DEPTH) return undefined;
  if (expression.type === 'MemberExpression') {
    return isLensNamespace(expression.object!, source, depth + 1) ? keyOf(expression) : undefined;
  }
  // Compilers write the call of an import this way: `(0, lens.managedSpan)(…)`.
  if (expression.type === 'SequenceExpression') {
    return lensNameOf(expression.expressions!.at(-1)!, source, depth + 1);
  }
  if (expression.type !== 'Identifier') return undefined;
  const variable = findVariable(expression, source);
  if (variable === undefined) return undefined;
  const { node: definition, parent } = variable.defs[0]!;
  if (definition.type === 'ImportSpecifier' && isLensModule(parent?.source)) {
    const { imported } = definition;
    return String(imported?.name ?? imported?.value);
  }
  for (const write of writesOf(variable)) {
    if (write === undefined) continue;
    if (write.key === undefined) {
      const name = lensNameOf(write.expression, source, depth + 1);
      if (name !== undefined) return name;
    } else if (isLensNamespace(write.expression, source, depth + 1)) return write.key;
  }
  return undefined;
}

/** `import * as lens`, `require('nest-lens')`, `await import('nest-lens')`, or a variable with one of them. */
function isLensNamespace(node: AstNode, source: Source, depth: number): boolean {
  const expression = unwrap(node);
  if (depth > MAX_DEPTH) return false;
  switch (expression.type) {
    case 'AwaitExpression': {
      const awaited = unwrap(expression.argument!);
      return awaited.type === 'ImportExpression' && isLensModule(awaited.source);
    }
    case 'CallExpression':
      return isRequire(expression, source);
    case 'MemberExpression':
      return keyOf(expression) === 'default' && isLensNamespace(expression.object!, source, depth + 1);
    case 'Identifier': {
      const variable = findVariable(expression, source);
      if (variable === undefined) return false;
      const { node: definition, parent } = variable.defs[0]!;
      if (['ImportNamespaceSpecifier', 'ImportDefaultSpecifier'].includes(definition.type)) {
        return isLensModule(parent?.source);
      }
      if (definition.type === 'TSImportEqualsDeclaration') {
        return isLensModule(definition.moduleReference?.expression);
      }
      return writesOf(variable).some(
        (write) =>
          write !== undefined &&
          (write.key ?? 'default') === 'default' &&
          isLensNamespace(write.expression, source, depth + 1),
      );
    }
    default:
      return false;
  }
}

/** `require('nest-lens')`, with Node's own `require` or one from `createRequire`. */
function isRequire({ callee, arguments: given }: AstNode, source: Source): boolean {
  if (callee?.type !== 'Identifier' || callee.name !== 'require' || !isLensModule(given?.[0])) return false;
  const variable = findVariable(callee, source);
  return variable === undefined || variable.defs[0]!.type === 'Variable';
}

/** The name in NestLens of the called function; for a member with its owner: `SpanRegistry.register`. */
export function lensCallOf(call: AstNode, source: Source): string | undefined {
  const callee = unwrap(call.callee!);
  const name = lensNameOf(callee, source);
  if (name !== undefined || callee.type !== 'MemberExpression') return name;
  const owner = lensNameOf(callee.object!, source);
  const member = keyOf(callee);
  return owner === undefined || member === undefined ? undefined : `${owner}.${member}`;
}
