import { type AstNode, keyOf } from './ast-node.js';
import type { ScopeVariable, Source } from './lens-rule.js';

/** The variable that an identifier stands for; undefined for a global that the file doesn't declare. */
export function findVariable(identifier: AstNode, source: Source): ScopeVariable | undefined {
  for (let scope = source.getScope(identifier) as ReturnType<Source['getScope']> | null; scope;) {
    const variable = scope.set.get(String(identifier.name));
    // Globals that ESLint knows are variables without a definition.
    if (variable !== undefined) return variable.defs.length > 0 ? variable : undefined;
    scope = scope.upper;
  }
  return undefined;
}

/** A value that is written into a variable: an expression, or the member that a pattern takes out of one. */
export interface Write {
  readonly expression: AstNode;
  readonly key?: string;
}

/** The key of the items that a loop takes out of a list. */
const ANY_ELEMENT = '*';

/** Every value that is written into a variable; undefined stands for unknown ones. */
export function writesOf(variable: ScopeVariable): (Write | undefined)[] {
  return variable.references
    .filter((reference) => reference.isWrite())
    .map(({ identifier, writeExpr }) => {
      if (!writeExpr) return undefined;
      const parent = identifier.parent;
      // `{ key = fallback }` has two values.
      if (!parent || parent.type === 'AssignmentPattern') return undefined;
      const loop = parent.type === 'VariableDeclarator' ? parent.parent?.parent : parent;
      if (loop && /^For(Of|In)Statement$/.test(loop.type)) {
        return { expression: writeExpr, key: ANY_ELEMENT };
      }
      if (parent.type === 'VariableDeclarator') return { expression: writeExpr };
      if (parent.type === 'AssignmentExpression')
        return parent.operator === '=' ? { expression: writeExpr } : undefined;
      const holder = parent.parent?.parent?.type;
      const key = parent.type === 'Property' ? keyOf(parent) : undefined;
      const isOuter = holder === 'VariableDeclarator' || holder === 'AssignmentExpression';
      return key !== undefined && isOuter ? { expression: writeExpr, key } : undefined;
    });
}

/** The value of a variable that is written once; undefined for parameters and for variables that change. */
export function onlyWriteOf(variable: ScopeVariable): Write | undefined {
  if (variable.defs.length !== 1 || variable.defs[0]!.type !== 'Variable') return undefined;
  const writes = writesOf(variable);
  return writes.length === 1 ? writes[0] : undefined;
}

/** Whether a variable is made once, when the file is loaded. */
export function isOfModule({ scope }: ScopeVariable): boolean {
  return ['Program', 'TSModuleBlock', 'TSModuleDeclaration'].includes(scope.block.type);
}
