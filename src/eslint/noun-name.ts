import type { AstNode } from './ast-node.js';
import { groupNamesIn } from './group-names.js';
import { defineRule } from './lens-rule.js';
import { verbIn } from './verb-words.js';

/**
 * Groups should be named for the subject of their spans. The rule guesses, so it is a warning in the recommended
 * configuration.
 */
export const nounName = defineRule({
  type: 'suggestion',
  description: 'Name groups after a concept, not after an action.',
  messages: {
    verb: "'{{name}}' begins with the verb '{{verb}}'. Name a group after the concept: `checkout`, not `checking_out`; `order_creation`, not `create_order`.",
  },
  create({ sourceCode, report }) {
    const seen = new Set<AstNode>();
    return {
      CallExpression(call) {
        for (const { kind, name, node } of groupNamesIn(call, sourceCode)) {
          const verb = kind === 'group' ? verbIn(name) : undefined;
          if (verb === undefined || seen.has(node)) continue;
          seen.add(node);
          report({ node, messageId: 'verb', data: { name, verb } });
        }
      },
    };
  },
});
