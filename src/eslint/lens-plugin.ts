import type { ESLint, Linter, Rule } from 'eslint';
import { attributesAsFunction } from './attributes-as-function.js';
import { constantGroup } from './constant-group.js';
import { decorateMethods } from './decorate-methods.js';
import { noDroppedPromise } from './no-dropped-promise.js';
import { nounName } from './noun-name.js';
import { snakeCaseName } from './snake-case-name.js';

/** The plugin's name in configurations: the part before the `/` of a rule. */
const PREFIX = 'nest-lens';

/** The severity of each rule in the recommended configuration. A rule that guesses is a warning. */
const RECOMMENDED: Record<string, [severity: 'error' | 'warn', rule: Rule.RuleModule]> = {
  'attributes-as-function': ['error', attributesAsFunction],
  'constant-group': ['error', constantGroup],
  'decorate-methods': ['error', decorateMethods],
  'no-dropped-promise': ['error', noDroppedPromise],
  'noun-name': ['warn', nounName],
  'snake-case-name': ['error', snakeCaseName],
};

const mapRules = <T>(map: (entry: (typeof RECOMMENDED)[string]) => T): Record<string, T> =>
  Object.fromEntries(Object.entries(RECOMMENDED).map(([name, entry]) => [name, map(entry)]));

/** The plugin's name, for ESLint's messages and cache. */
export const meta: { readonly name: string } = { name: 'nest-lens/eslint' };

/** The rules by their names; configurations put `nest-lens/` before each. */
export const rules: Record<string, Rule.RuleModule> = mapRules(([, rule]) => rule);

/** `recommended`: every rule, as an entry of a flat configuration. */
export const configs: { recommended: Linter.Config } = {
  recommended: {
    name: `${PREFIX}/recommended`,
    plugins: {},
    rules: Object.fromEntries(
      Object.entries(RECOMMENDED).map(([name, [severity]]) => [`${PREFIX}/${name}`, severity]),
    ),
  },
};

/**
 * The ESLint plugin: rules about sites and names, for JavaScript and TypeScript, without type information. `docs/eslint.md` has
 * each rule with an example. Needs ESLint 9 or later.
 *
 * @example
 * ```js
 * import { plugin as nestLens } from 'nest-lens/eslint';
 * export default [nestLens.configs.recommended];
 * ```
 */
export const plugin: ESLint.Plugin & { configs: typeof configs } = { meta, rules, configs };

// Plugin and configuration refer to each other, as ESLint requires.
configs.recommended.plugins = { [PREFIX]: plugin };
