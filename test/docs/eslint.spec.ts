import { describe, expect, it } from 'vitest';
import { Linter } from 'eslint';
import { plugin } from 'nest-lens/eslint';
import tseslint from 'typescript-eslint';
import { readPage } from './documentation.js';

const page = readPage('docs/eslint.md');
const { recommended } = plugin.configs;

/** The rules of the recommended configuration that complain about a block. */
function complaintsAbout(code: string): string[] {
  const parser = { languageOptions: { parser: tseslint.parser } };
  const found = new Linter().verify(code, [{ files: ['**/*.ts'], ...parser }, recommended], 'shop.ts');
  return found.map(({ ruleId, message }) => ruleId ?? message);
}

const sections = page.text
  .split(/^## /m)
  .slice(1)
  .map((section) => {
    const [, name] = /^`([^`]+)`/.exec(section) ?? [];
    const blocks = [...section.matchAll(/^(Wrong|Right):\n\n```ts\n(.*?)^```$/gms)];
    return { name, blocks: blocks.map(([, verdict, code]) => ({ verdict, code: code! })) };
  });

describe('docs/eslint.md', () => {
  it('has a section for each rule, and how serious the recommended configuration takes it', () => {
    const expected = Object.keys(recommended.rules!);
    expect(expected.length).toBeGreaterThan(5);
    expect(sections.map(({ name }) => name)).toEqual(expected);
    const rows = page.table('Rule', 'In `recommended`', 'It finds');
    expect(rows.map(([rule, severity]) => [/`([^`]+)`/.exec(rule!)![1], severity])).toEqual(
      Object.entries(recommended.rules!).map(([name, severity]) => [
        name,
        severity === 'warn' ? 'warning' : severity,
      ]),
    );
  });

  it.each(sections)('$name complains about the wrong block, and no rule about the right one', (section) => {
    expect(section.blocks.map(({ verdict }) => verdict)).toEqual(['Wrong', 'Right']);
    const [wrong, right] = section.blocks.map(({ code }) => [...new Set(complaintsAbout(code))]);
    expect(wrong).toEqual([section.name]);
    expect(right).toEqual([]);
  });

  it('shows a configuration that works', async () => {
    const [config] = page.blocks('js');
    expect(config).toContain("import { plugin as nestLens } from 'nest-lens/eslint'");
    expect(config).toContain('export default [nestLens.configs.recommended]');
    // What `require` gives in a configuration in CommonJS is the plugin itself, under its usual names.
    expect(Object.keys(await import('nest-lens/eslint')).sort()).toEqual([
      'configs',
      'default',
      'meta',
      'plugin',
      'rules',
    ]);
  });
});
