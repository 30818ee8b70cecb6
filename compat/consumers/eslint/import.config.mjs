import nestLens, { plugin } from 'nest-lens/eslint';

if (nestLens !== plugin) throw new Error('The default export is not the plugin.');
export default [plugin.configs.recommended];
