import type { Rule } from 'eslint';
import type { AstNode } from './ast-node.js';

/** A variable, as the scope managers of ESLint and of typescript-eslint give it; the fields that the rules read. */
export interface ScopeVariable {
  readonly name: string;
  readonly scope: Scope;
  readonly defs: readonly {
    readonly type: string;
    readonly node: AstNode;
    readonly parent?: AstNode | null;
  }[];
  readonly references: readonly {
    readonly identifier: AstNode;
    readonly writeExpr?: AstNode | null;
    isWrite(): boolean;
  }[];
}

export interface Scope {
  readonly block: AstNode;
  readonly set: ReadonlyMap<string, ScopeVariable>;
  readonly upper: Scope | null;
}

/** The members of ESLint's source code that the rules need. */
export interface Source {
  getScope(node: AstNode): Scope;
}

/** The context that a rule gets from ESLint. */
export interface RuleContext {
  readonly sourceCode: Source;
  readonly report: (finding: Finding) => void;
}

interface Finding {
  readonly node: AstNode;
  readonly messageId: string;
  readonly data?: Record<string, string>;
}

interface LensRule {
  readonly type: 'problem' | 'suggestion';
  readonly description: string;
  readonly messages: Record<string, string>;
  readonly create: (context: RuleContext) => Record<string, (node: AstNode) => void>;
}

/**
 * Makes a rule of the plugin, without options. The rules see nodes as `AstNode`, because ESLint's own types know no
 * decorators.
 */
export function defineRule({ type, description, messages, create }: LensRule): Rule.RuleModule {
  return {
    meta: { type, docs: { description, recommended: true }, schema: [], messages },
    create: (context) =>
      create({
        sourceCode: context.sourceCode,
        report: (finding) => context.report(finding),
      }),
  };
}
