import type { AstNode } from './ast-node.js';
import { groupNamesIn } from './group-names.js';
import { defineRule } from './lens-rule.js';

const SNAKE_CASE = /^[a-z][a-z0-9]*(?:_[a-z0-9]+)*$/;

/** Names of groups and presets should be lowercase `snake_case`, as users write them in the spec. */
export const snakeCaseName = defineRule({
  type: 'suggestion',
  description: 'Write names of groups and presets in lowercase snake_case.',
  messages: {
    notSnakeCase: "'{{name}}' isn't snake_case. Call this {{kind}} '{{better}}', as it is written in a spec.",
    notAName:
      "'{{name}}' isn't snake_case. Give this {{kind}} a name of lowercase words with _ between them.",
  },
  create({ sourceCode, report }) {
    // A constant that several sites share is reported once.
    const seen = new Set<AstNode>();
    return {
      CallExpression(call) {
        for (const { kind, name, node } of groupNamesIn(call, sourceCode)) {
          if (SNAKE_CASE.test(name) || seen.has(node)) continue;
          seen.add(node);
          const better = toSnakeCase(name);
          const messageId = SNAKE_CASE.test(better) ? 'notSnakeCase' : 'notAName';
          report({ node, messageId, data: { kind, name, better } });
        }
      },
    };
  },
});

function toSnakeCase(name: string): string {
  return name
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .replace(/([A-Z])([A-Z][a-z])/g, '$1_$2')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '_')
    .replace(/^_+|_+$/g, '');
}
