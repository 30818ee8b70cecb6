/**
 * `nest-lens/eslint`: a plugin for ESLint's flat configuration. The parts have names of their own, too, so that what `require`
 * gives is the plugin itself, as configurations in CommonJS expect.
 */
export { configs, meta, plugin, plugin as default, rules } from './eslint/lens-plugin.js';
