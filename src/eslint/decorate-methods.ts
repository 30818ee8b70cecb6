import { type AstNode, isNode, keyOf } from './ast-node.js';
import { lensNameOf } from './lens-name.js';
import { defineRule, type Source } from './lens-rule.js';

/** Reports in the editor what `@SpanGroup` would refuse when the class is loaded. */
export const decorateMethods = defineRule({
  type: 'problem',
  description: '@SpanGroup and @NoSpanGroup belong on methods and classes.',
  messages: {
    property:
      '@{{decorator}} on a property stops the application when this class is loaded: there is no method to put behind a gate. Make `{{member}}` a method, or wrap the function in `traceFn`.',
    accessor:
      '@{{decorator}} on an accessor stops the application when this class is loaded. Make `{{member}}` a method, or put what it computes into one.',
    parameter: '@{{decorator}} belongs on methods and classes, not on parameters.',
  },
  create: ({ sourceCode, report }) => ({
    Decorator(node) {
      const { parent: member } = node;
      const found = isNode(node.expression) ? lensDecoratorIn(node.expression, sourceCode) : undefined;
      const messageId = member ? misplacedOn(member) : undefined;
      if (!member || found === undefined || messageId === undefined) return;
      report({ node, messageId, data: { decorator: found, member: keyOf(member) ?? 'this' } });
    },
  }),
});

/** `SpanGroup(…)`, also among the arguments of `applyDecorators(…)`. */
function lensDecoratorIn(expression: AstNode, source: Source): string | undefined {
  if (expression.type !== 'CallExpression') return undefined;
  const name = lensNameOf(expression.callee!, source);
  if (name === 'SpanGroup' || name === 'NoSpanGroup') return name;
  return expression.arguments
    ?.map((each) => lensDecoratorIn(each, source))
    .find((each) => each !== undefined);
}

function misplacedOn({ type, kind }: AstNode): 'property' | 'accessor' | 'parameter' | undefined {
  if (/^(TSAbstract)?(PropertyDefinition|AccessorProperty)$|^ClassProperty$/.test(type)) return 'property';
  if (/^(TSAbstract)?MethodDefinition$|^ClassMethod$/.test(type)) {
    return kind === 'get' || kind === 'set' ? 'accessor' : undefined;
  }
  return /^Class(Declaration|Expression)$/.test(type) ? undefined : 'parameter';
}
