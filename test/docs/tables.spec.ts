import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { nestLensConfigFromEnv } from 'nest-lens';
import { CELLS, NODES } from '../../scripts/compat/matrix.mjs';
import { quoted, readPage, root } from './documentation.js';

// Tables of the pages, held to the tables in the code that they speak of.

describe('the tables of docs', () => {
  it('explain every warning that NestLens can give, and no other', () => {
    const source = readFileSync(`${root}src/core/diagnostics/warning-details.ts`, 'utf8');
    const [, body] = /^export interface WarningDetails \{\n(.*?)^\}/ms.exec(source)!;
    const known = [...body!.matchAll(/^ {2}([A-Z_]+):/gm)].map(([, code]) => code!);
    const explained = readPage('docs/warnings-and-errors.md')
      .table('Code', 'It means', 'What to do')
      .flatMap(([code]) => quoted(code!));
    expect(known.length).toBeGreaterThan(15);
    expect(explained).toEqual(known);
  });

  it('explain every error that NestLens can throw, and no other', () => {
    const source = readFileSync(`${root}src/core/diagnostics/errors.ts`, 'utf8');
    const [, union] = /^export type NestLensErrorCode =\n(.*?);$/ms.exec(source)!;
    const known = [...union!.matchAll(/'([A-Z_]+)'/g)].map(([, code]) => code!);
    const explained = readPage('docs/warnings-and-errors.md')
      .table('Error', 'It means', 'What to do')
      .flatMap(([code]) => quoted(code!));
    expect(known.length).toBeGreaterThan(10);
    expect(explained).toEqual(known);
  });

  it('name every option of forRoot', () => {
    const files = [
      'nest-lens-options',
      'introspection/introspection-options',
      'introspection/runtime-control-options',
    ];
    const source = files.map((name) => readFileSync(`${root}src/nest/${name}.ts`, 'utf8')).join('\n');
    const optionsOf = (name: string): string[] => {
      const [, body] = new RegExp(`^export interface ${name} \\{\\n(.*?)^\\}`, 'ms').exec(source)!;
      return [...body!.matchAll(/^ {2}(\w+)\?:/gm)].map(([, option]) => option!);
    };
    const expected = [
      ...optionsOf('NestLensModuleOptions'),
      ...optionsOf('IntrospectionOptions').map((option) => `introspection.${option}`),
      ...optionsOf('RuntimeControlOptions').map((option) => `introspection.runtimeControl.${option}`),
    ];
    const shown = readPage('docs/options.md')
      .table('Option', 'Type', 'Default', 'Meaning')
      .flatMap(([option]) => quoted(option!));
    expect(shown).toEqual(expected);
  });

  it('C2: name every variable, its key, and its default', () => {
    const defaults = nestLensConfigFromEnv({ env: {} });
    const rows = readPage('docs/options.md').table('Variable', 'Key of `config`', 'Values', 'Default');
    const source = readFileSync(`${root}src/core/telemetry/config-from-env.ts`, 'utf8');
    const read = [...source.matchAll(/\bread\('(\w+)'\)/g)].map(([, key]) => `NEST_LENS_${key}`);

    expect(rows.flatMap(([variable]) => quoted(variable!)).sort()).toEqual([...new Set(read)].sort());
    const keys = rows.map(([, key]) => quoted(key!)[0]!);
    const { origins: _, ...options } = defaults;
    expect([...Object.keys(options), 'serviceName', 'spanGroupsFile'].sort()).toEqual([...keys].sort());
    for (const [, key, , shown] of rows) {
      const [literal] = quoted(shown!);
      if (literal !== undefined)
        expect([key, literal]).toEqual([key, String((options as any)[quoted(key!)[0]!])]);
    }
  });

  it('say which versions npm run compat tests, no more and no less', () => {
    const rows = new Map(
      readPage('docs/versions.md')
        .table('', 'Supported', 'Tested with')
        .map(([what, , tested]) => [quoted(what!)[0] ?? what, tested!]),
    );
    const installed = CELLS.map(({ consumer, dependencies }) => {
      const manifest = readFileSync(`${root}compat/consumers/${consumer}/package.json`, 'utf8');
      const own = (JSON.parse(manifest) as { dependencies: Record<string, string> }).dependencies;
      return { ...own, ...dependencies };
    });
    const versionsOf = (name: string): string[] => installed.flatMap((packages) => packages[name] ?? []);
    const tested: Record<string, string[]> = {
      Node: CELLS.map(({ node }) => NODES[node]),
      NestJS: versionsOf('@nestjs/core'),
      '@opentelemetry/sdk-node': versionsOf('@opentelemetry/sdk-node'),
      '@opentelemetry/api': versionsOf('@opentelemetry/api'),
      rxjs: versionsOf('rxjs'),
      'reflect-metadata': versionsOf('reflect-metadata'),
    };
    for (const [what, versions] of Object.entries(tested)) {
      const shown = rows.get(what)!.split(', ');
      const isShown = (version: string): boolean =>
        shown.some((each) => `${version}.`.startsWith(`${each}.`));
      expect([what, versions.filter((version) => !isShown(version))]).toEqual([what, []]);
      const isTested = (each: string): boolean =>
        versions.some((version) => `${version}.`.startsWith(`${each}.`));
      expect([what, shown.filter((each) => !isTested(each))]).toEqual([what, []]);
    }
  });
});
