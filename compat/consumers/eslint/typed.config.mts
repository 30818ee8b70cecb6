import { defineConfig } from 'eslint/config';
import nestLens, { plugin } from 'nest-lens/eslint';
import tseslint from 'typescript-eslint';

export default defineConfig(tseslint.configs.base, nestLens.configs.recommended, {
  plugins: { 'nest-lens': plugin },
  rules: { 'nest-lens/noun-name': 'off' },
});
