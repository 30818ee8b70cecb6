import { describe, expect, it } from 'vitest';
import { ESLint } from 'eslint';
import tseslint from 'typescript-eslint';

// The import rules look at syntax only. Without type information a snippet may stand for any file, also for one that
// does not exist. What the compiler's settings would say of decorators has to be said here then.
const parserOptions = {
  emitDecoratorMetadata: true,
  experimentalDecorators: true,
  // With CI=true the parser takes a second snippet at the same path for a fix of the first, and makes it a program of its
  // own, without these settings.
  disallowAutomaticSingleRunInference: true,
};
const syntaxOnly = new ESLint({
  overrideConfig: [tseslint.configs.disableTypeChecked, { languageOptions: { parserOptions } }],
});

/** The ids of the rules that `code` breaks when it stands in `filePath`. */
async function lint(filePath: string, code: string): Promise<string[]> {
  const [result] = await syntaxOnly.lintText(code, { filePath });
  return [...new Set(result?.messages.map(({ ruleId, message }) => ruleId ?? message))];
}

const CORE = 'src/core/groups/span-gate.ts';
const SDK = 'src/core/telemetry/sdk-parts.ts';
const NEST = 'src/nest/introspection/span-sites.ts';
const INDEX = 'src/index.ts';
const CLI = 'src/cli/run-command-line.ts';
const FALLBACKS = 'src/fallbacks.ts';
const TESTING = 'src/testing.ts';
const CAPTURE = 'src/testing/capture-spans.ts';
const PLUGIN = 'src/eslint.ts';
const SCHEMATIC = 'src/schematics/nest-add.ts';
const RULE = 'src/eslint/noun-name.ts';

/** Each way to mention a module, with the kinds that keep the name at run time first. */
const mentions = (specifier: string): string[] => [
  `import { thing } from '${specifier}';\nthing();`,
  `import '${specifier}';`,
  `export { thing } from '${specifier}';`,
  `export const thing = await import('${specifier}');`,
  `import thing = require('${specifier}');\nthing();`,
  `import type { Thing } from '${specifier}';\nexport type Other = Thing;`,
  `export type { Thing } from '${specifier}';`,
  `export type Thing = import('${specifier}').Thing;`,
];

describe('The import rules', () => {
  const forbidden: [rule: string, filePath: string, specifier: string][] = [
    ['the core imports no Nest', CORE, '@nestjs/common'],
    ['the core imports no Nest', 'src/core/telemetry/setup-telemetry.ts', '@nestjs/core'],
    ['the core imports no rxjs', CORE, 'rxjs'],
    ['the core imports no rxjs', CORE, 'rxjs/operators'],
    ['the core imports no reflect-metadata', CORE, 'reflect-metadata'],
    ['the core imports nothing of the Nest layer', CORE, '../../nest/introspection/span-sites.js'],
    [
      'the core imports nothing of the Nest layer, the SDK file included',
      SDK,
      '../../nest/introspection/span-sites.js',
    ],
    ['the core entry imports no Nest', 'src/core.ts', '@nestjs/common'],
    ['the core entry imports nothing of the Nest layer', 'src/core.ts', './nest/introspection/span-sites.js'],
    [
      'the register entry imports nothing of the Nest layer',
      'src/register.ts',
      './nest/introspection/span-sites.js',
    ],
    ['the testing entry imports no Nest', TESTING, '@nestjs/testing'],
    [
      'what is behind the testing entry imports nothing of the Nest layer',
      CAPTURE,
      '../nest/introspection/span-sites.js',
    ],
    ['nothing but the testing entry imports what is for tests', CORE, '../../testing/capture-spans.js'],
    ['nothing but the testing entry imports what is for tests', NEST, '../../testing/capture-spans.js'],
    ['nothing but the testing entry imports what is for tests', INDEX, './testing/capture-spans.js'],
    ['only telemetry/load-sdk imports an SDK', CORE, '@opentelemetry/sdk-node'],
    ['only telemetry/load-sdk imports an SDK', 'src/core.ts', '@opentelemetry/sdk-node'],
    [
      'only telemetry/load-sdk imports an SDK',
      'src/core/telemetry/setup-telemetry.ts',
      '@opentelemetry/sdk-trace-base',
    ],
    ['only telemetry/load-sdk imports an SDK', NEST, '@opentelemetry/sdk-node'],
    ['only telemetry/load-sdk imports an SDK', INDEX, '@opentelemetry/sdk-metrics'],
    ['only telemetry/load-sdk imports other OpenTelemetry packages', CORE, '@opentelemetry/api-logs'],
    [
      'only telemetry/load-sdk imports other OpenTelemetry packages',
      NEST,
      '@opentelemetry/semantic-conventions',
    ],
    ['the testing entry imports no SDK', TESTING, '@opentelemetry/sdk-node'],
    ['what is behind the testing entry imports no SDK either', CAPTURE, '@opentelemetry/sdk-trace-base'],
    ['the command asks applications over HTTP', CLI, '../core/groups/span-registry.js'],
    ['the command knows no Nest', CLI, '@nestjs/common'],
    ['fallbacks imports nothing of the package', FALLBACKS, './core/groups/span-registry.js'],
    ['fallbacks imports no package', FALLBACKS, '@opentelemetry/api'],
    ['fallbacks imports no module of Node', FALLBACKS, 'node:util'],
    ['the rules for ESLint import nothing of the core', RULE, '../core/groups/span-group-spec.js'],
    ['the rules for ESLint import no other layer', RULE, '../nest/introspection/span-sites.js'],
    ['the rules for ESLint import no package', RULE, 'typescript-eslint'],
    ['the rules for ESLint import no module of Node', RULE, 'node:path'],
    ['the ESLint entry imports nothing but the plugin', PLUGIN, './core/state/version.js'],
    ['the ESLint entry imports no package', PLUGIN, '@opentelemetry/api'],
    ['nothing but its entry imports the plugin', CORE, '../../eslint/lens-plugin.js'],
    ['nothing but its entry imports the plugin', NEST, '../../eslint/lens-plugin.js'],
    ['nothing but its entry imports the plugin', INDEX, './eslint/lens-plugin.js'],
    ['nothing but its entry imports the plugin', TESTING, './eslint/lens-plugin.js'],
    ['nothing but its entry imports the plugin', CAPTURE, '../eslint/lens-plugin.js'],
    ['the schematic imports nothing of the core', SCHEMATIC, '../core/groups/span-group-spec.js'],
    ['the schematic imports no package', SCHEMATIC, '@angular-devkit/schematics'],
    ['the schematic reads files from its tree only', SCHEMATIC, 'node:fs'],
    ['nothing that runs in an application imports the schematic', NEST, '../../schematics/nest-add.js'],
    ['nothing that runs in an application imports ESLint', CORE, 'eslint'],
    ['nothing that runs in an application imports ESLint', NEST, 'eslint'],
    ['nothing imports an entry', CORE, '../../index.js'],
    ['nothing imports an entry', CORE, '../../eslint.js'],
    ['nothing imports an entry', CORE, '../../core.js'],
    ['nothing imports an entry', SDK, '../../testing.js'],
    ['nothing imports an entry', NEST, '../../fallbacks.js'],
    ['nothing imports an entry', NEST, '../../register.js'],
    ['nothing imports an entry', INDEX, './core.js'],
    ['nothing imports an entry', TESTING, './core.js'],
    ['nothing imports an entry by the name of the package', NEST, 'nest-lens'],
    ['nothing imports an entry by the name of the package', INDEX, 'nest-lens/core'],
    [
      'a folder imports none that is built on it',
      'src/core/state/process-state.ts',
      '../diagnostics/errors.js',
    ],
    [
      'a folder imports none that is built on it',
      'src/core/state/process-state.ts',
      '../register/early-start.js',
    ],
    [
      'a folder imports none that is built on it',
      'src/core/diagnostics/warnings.ts',
      '../groups/span-gate.js',
    ],
    ['a folder imports none that is built on it', CORE, '../spans/span-plan.js'],
    ['a folder imports none that is built on it', 'src/core/spans/span-plan.ts', '../telemetry/config.js'],
    ['a folder imports none that is built on it', SDK, '../register/early-start.js'],
    [
      'a folder imports none that is built on it',
      'src/nest/span-group/gated-method.ts',
      '../introspection/span-sites.js',
    ],
    ['a folder imports none that is built on it', 'src/nest/span-group/gated-method.ts', '../lens-app.js'],
    ['a folder imports none that is built on it', NEST, '../nest-lens.module.js'],
    ['nobody imports deep paths of Nest', NEST, '@nestjs/common/utils/shared.utils'],
    ['nobody imports deep paths of Nest', NEST, '@nestjs/core/injector/container.js'],
    ['nobody imports deep paths of rxjs', NEST, 'rxjs/internal/Observable'],
  ];

  it.each(forbidden)('%s: %s may not mention %s', async (_rule, filePath, specifier) => {
    // All in one file, which is much faster; each mention has to be found on its own line.
    const [first, ...others] = mentions(specifier).map((code) => code.replace('\n', ' '));
    const lines = [...others, first!];
    const [result] = await syntaxOnly.lintText(lines.join('\n'), { filePath });
    const found = result!.messages.filter(({ ruleId }) => ruleId === 'no-restricted-syntax');
    const refused = lines.filter((_, index) => found.some(({ line }) => line === index + 1));
    expect(refused).toEqual(lines);
  });

  const allowed: [filePath: string, specifier: string][] = [
    [CORE, '@opentelemetry/api'],
    [CORE, './span-group-spec.js'],
    [CORE, '../state/process-state.js'],
    [CORE, '../diagnostics/warnings.js'],
    [CORE, 'node:crypto'],
    ['src/core.ts', './core/groups/span-registry.js'],
    [INDEX, './core/groups/span-registry.js'],
    [INDEX, './nest/nest-lens.module.js'],
    [NEST, '../../core/groups/span-registry.js'],
    [NEST, './groups.controller.js'],
    [NEST, '../span-group/gated-method.js'],
    ['src/nest/lens-app.ts', './introspection/span-sites.js'],
    [NEST, '@nestjs/common'],
    [NEST, 'rxjs'],
    [NEST, 'rxjs/operators'],
    [NEST, 'reflect-metadata'],
    [TESTING, './testing/capture-spans.js'],
    [CAPTURE, '@opentelemetry/api'],
    [CAPTURE, '../core/telemetry/setup-options.js'],
    [CAPTURE, '../core/state/process-state.js'],
    [PLUGIN, './eslint/lens-plugin.js'],
    [RULE, './ast-node.js'],
    [SCHEMATIC, './tokens.js'],
    [SCHEMATIC, 'node:path'],
    ['test/nest/decorator.spec.ts', '@opentelemetry/sdk-node'],
    ['sample-app/src/main.ts', 'nest-lens'],
  ];

  it.each(allowed)('%s may import %s', async (filePath, specifier) => {
    const code = `import { thing } from '${specifier}';\nthing();`;
    expect(await lint(filePath, code)).toEqual([]);
  });

  it('telemetry/sdk names the types of an SDK package, and does nothing else with it', async () => {
    const [named, bare, exported, lazy, equals, type, exportedType, inlineType] = mentions(
      '@opentelemetry/sdk-node',
    ).map((code) => lint(SDK, code));
    for (const value of [named, bare, exported, equals, lazy])
      expect(await value).toContain('no-restricted-syntax');
    for (const isType of [type, exportedType, inlineType]) {
      expect(await isType).not.toContain('no-restricted-syntax');
    }
  });

  it('the rules for ESLint name its types, and nothing else of it', async () => {
    const [named, bare, exported, lazy, equals, ...types] = mentions('eslint').map((code) =>
      lint(RULE, code),
    );
    for (const value of [named, bare, exported, lazy, equals]) {
      expect(await value).toContain('no-restricted-syntax');
    }
    for (const type of types) expect(await type).not.toContain('no-restricted-syntax');
  });

  it('private fields of others are read in one folder', async () => {
    const reads = [
      'export const at = (span) => span._start;',
      'export const at = ({ _start: start }) => start;',
    ];
    for (const code of reads) {
      for (const filePath of [CORE, SDK, NEST, INDEX]) {
        expect(await lint(filePath, code)).toContain('no-restricted-syntax');
      }
      expect(await lint('src/core/private-fields/private-fields.ts', code)).toEqual([]);
    }
  });

  it('nobody writes `export *`', async () => {
    for (const filePath of [INDEX, CORE, NEST, 'test/setup.ts', 'bench/gate.ts', 'sample-app/src/main.ts']) {
      expect(await lint(filePath, "export * from './span-sites.js';")).toEqual(['no-restricted-syntax']);
    }
  });

  it('nothing in src writes to the console but the warnings and the console exporter', async () => {
    const code = "console.log('seen');";
    for (const filePath of [CORE, SDK, NEST, INDEX]) {
      expect(await lint(filePath, code)).toEqual(['no-console']);
    }
    for (const filePath of [
      'src/core/diagnostics/warnings.ts',
      'src/core/telemetry/console-span-exporter.ts',
      'bench/gate.ts',
    ]) {
      expect(await lint(filePath, code)).toEqual([]);
    }
  });

  it('a promise that nobody waits for is an error, in src and in tests', async () => {
    // The rule itself needs the compiler to read the whole project, which takes too long for a test.
    for (const filePath of ['src/core/state/version.ts', 'test/package/import-rules.spec.ts']) {
      const { rules, languageOptions } = (await new ESLint().calculateConfigForFile(filePath)) as {
        rules: Record<string, unknown[]>;
        languageOptions: { parserOptions: Record<string, unknown> };
      };
      expect(rules['@typescript-eslint/no-floating-promises']![0]).toBe(2);
      expect(languageOptions.parserOptions).toHaveProperty('projectService');
    }
  });

  it('a type is imported with `import type`, unless Nest reads it from a decorated constructor', async () => {
    const plain = "import { ModuleRef } from '@nestjs/core';\nexport type Ref = ModuleRef;\n";
    const injected =
      "import { Injectable } from '@nestjs/common';\nimport { ModuleRef } from '@nestjs/core';\n" +
      '@Injectable()\nexport class Sites {\n  constructor(readonly ref: ModuleRef) {}\n}\n';
    expect(await lint('test/package/import-rules.spec.ts', plain)).toEqual([
      '@typescript-eslint/consistent-type-imports',
    ]);
    expect(await lint('test/package/import-rules.spec.ts', injected)).toEqual([]);
  });
});
