import { existsSync } from 'node:fs';
import js from '@eslint/js';
import { defineConfig, globalIgnores } from 'eslint/config';
import tseslint from 'typescript-eslint';
import { build } from './scripts/build.mjs';

// The layers of src are kept apart by the rules of this file. Each area names the modules that it may not mention;
// `forbidModules` covers every way to mention one: import, export from, import(), require() and a type `import()`.

/** @param {RegExp} specifier @param {string} message @param {{ types?: boolean }} allowed */
function forbidModules(specifier, message, { types = false } = {}) {
  // A selector has no way to escape a slash inside a regular expression.
  const value = `/${specifier.source.replaceAll('\\/', '\\u002F')}/`;
  const onlyValues = types ? '[importKind="value"]' : '';
  const always = [
    `ImportDeclaration${onlyValues}[source.value=${value}]`,
    `ExportAllDeclaration[source.value=${value}]`,
    `ExportNamedDeclaration${onlyValues.replace('import', 'export')}[source.value=${value}]`,
    `TSImportEqualsDeclaration > TSExternalModuleReference[expression.value=${value}]`,
    `CallExpression[callee.name="require"][arguments.0.value=${value}]`,
    `ImportExpression[source.value=${value}]`,
  ];
  return [...always, ...(types ? [] : [`TSImportType[source.value=${value}]`])].map((selector) => ({
    selector,
    message,
  }));
}

const noExportAll = {
  selector: 'ExportAllDeclaration',
  message: 'Name what is exported: the list of an entry is its contract.',
};
const entryNames = '(index|core|fallbacks|testing|register|eslint)(\\.[jt]s)?$';
const entryMessage = 'Entries are for users; import the file that has it.';
const noEntry = [
  ...forbidModules(/^nest-lens($|\/)/, entryMessage),
  ...forbidModules(new RegExp(`^(\\.\\.\\/)+${entryNames}`), entryMessage),
];
const noEntryBeside = forbidModules(new RegExp(`^\\.\\/${entryNames}`), entryMessage);
const noDeepPath = forbidModules(
  /^(@nestjs\/[^/]+\/|rxjs\/(internal|dist|src)\/)/,
  'Import from the package itself: its inner paths are not public.',
);
const noNest = [
  ...forbidModules(
    /^(@nestjs\/|rxjs($|\/)|reflect-metadata($|\/))/,
    'Below the Nest layer nothing knows of Nest and rxjs.',
  ),
  ...forbidModules(/^\.\.?\/(.*\/)?nest\//, 'Only the main entry knows of the Nest layer.'),
];
const sdkMessage =
  'Only src/core/telemetry/load-sdk.ts loads the SDK, when an enabled set-up asks for it, by a name that bundlers cannot follow.';
const noTesting = forbidModules(
  /^\.\.?\/(.*\/)?testing\//,
  'What is for tests stays out of what runs in production.',
);
const noPlugin = forbidModules(
  /^(\.\.?\/(.*\/)?(eslint|schematics)\/|eslint$)/,
  'What runs in an editor or in the command line of Nest stays out of what runs in an application.',
);
const onlyPlugin = [
  ...forbidModules(
    /^(?!\.\/|eslint$)/,
    'The rules need nothing but each other: no core, no Nest, no package.',
  ),
  ...forbidModules(/^eslint$/, 'ESLint loads the plugin, never the other way round; its types are fine.', {
    types: true,
  }),
  ...forbidModules(/^\.\/(core|nest|testing)\//, 'The plugin is all that its entry knows.'),
];
const onlySchematics = forbidModules(
  /^(?!\.\/|node:path$)/,
  'A schematic runs in the command line of Nest, where nothing of ours and no package may be expected.',
);
const noSdk = forbidModules(/^@opentelemetry\/(?!api$)/, sdkMessage);
const sdkTypes = forbidModules(/^@opentelemetry\/(?!api$)/, sdkMessage, { types: true });
const noCore = forbidModules(
  /^(\.\.\/)+core\/(?!(opt-in\/sign-span-groups|diagnostics\/quote-details|groups\/nearest-name|state\/version)\.js$)/,
  'The command talks to applications over HTTP; of the core it knows what it signs with, how names are shown, and the version.',
);
const noModule = forbidModules(/^/, 'The fallbacks have to work where nothing else is installed.');

/** The folders of a layer. Each may import those named before it, never one that comes after it. */
const CORE_FOLDERS = [
  'state',
  'private-fields',
  'diagnostics',
  'groups',
  'sources',
  'opt-in',
  'spans',
  'instrumentations',
  'traces',
  'telemetry',
  'register',
];
const NEST_FOLDERS = ['span-group', 'page', 'introspection', 'auto-groups'];

/** @param {readonly string[]} folders @param {string} folder */
function noLaterFolder(folders, folder) {
  const later = folders.slice(folders.indexOf(folder) + 1);
  if (later.length === 0) return [];
  return forbidModules(
    new RegExp(`^\\.\\.\\/(${later.join('|')})\\/`),
    `${folder}/ may import ${folders.slice(0, folders.indexOf(folder)).join(', ') || 'nothing'}; never what is built on it.`,
  );
}

const noNestTop = forbidModules(
  /^\.\.\/[^/]+$/,
  'The modules of Nest are built on this folder, not the other way round.',
);

// The plugin that is packed looks at what users read: the sample and the documentation. A fresh clone has to build it first.
const builtPlugin = new URL('dist/esm/eslint.js', import.meta.url);
if (!existsSync(builtPlugin)) await build({ onlyIfStale: true });
const { plugin: nestLens } = await import(builtPlugin.href);

const nodeGlobals = Object.fromEntries(
  Object.getOwnPropertyNames(globalThis).map((name) => [name, 'readonly']),
);

/** A read of `other._field`, or a `{ _field }` that is taken out of an object. */
const noPrivateFields = [
  'MemberExpression[property.name=/^_[a-z]/]',
  'ObjectPattern > Property[key.name=/^_[a-z]/]',
].map((selector) => ({
  selector,
  message:
    'Private fields of others are read in src/core/private-fields alone, each with the public way that is missing.',
}));

/** One area's whole list: of several configurations that name this rule, only the last counts. */
const restrict = (...areas) => ({ 'no-restricted-syntax': ['error', noExportAll, ...areas.flat()] });

export default defineConfig(
  globalIgnores(['**/dist/', '**/coverage/', 'temp/', 'test/types/fail-*.ts', 'test/types/merged/']),
  js.configs.recommended,
  tseslint.configs.recommendedTypeChecked,
  {
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    linterOptions: { reportUnusedDisableDirectives: 'error' },
    rules: {
      '@typescript-eslint/no-floating-promises': 'error',
      // A type `import()` leaves nothing at run time either; `forbidModules` sees it.
      '@typescript-eslint/consistent-type-imports': ['error', { disallowTypeAnnotations: false }],
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_' }],
      eqeqeq: ['error', 'always', { null: 'ignore' }],
      ...restrict(),
    },
  },
  { files: ['src/**/*.ts'], rules: { 'no-console': 'error' } },
  {
    files: ['src/index.ts'],
    rules: restrict(noPrivateFields, noEntry, noEntryBeside, noDeepPath, noTesting, noPlugin, noSdk),
  },
  {
    files: ['src/{core,register}.ts'],
    rules: restrict(noPrivateFields, noEntry, noEntryBeside, noNest, noTesting, noPlugin, noSdk),
  },
  {
    files: ['src/testing.ts'],
    rules: restrict(noPrivateFields, noEntry, noEntryBeside, noNest, noPlugin, noSdk),
  },
  { files: ['src/eslint.ts'], rules: restrict(noPrivateFields, noEntry, noEntryBeside, onlyPlugin) },
  { files: ['src/eslint/**/*.ts'], rules: restrict(noPrivateFields, noEntry, onlyPlugin) },
  { files: ['src/schematics/**/*.ts'], rules: restrict(noPrivateFields, noEntry, onlySchematics) },
  { files: ['src/fallbacks.ts'], rules: restrict(noPrivateFields, noModule) },
  ...CORE_FOLDERS.map((folder) => ({
    files: [`src/core/${folder}/**/*.ts`],
    rules: restrict(
      folder === 'private-fields' ? [] : noPrivateFields,
      noEntry,
      noNest,
      noTesting,
      noPlugin,
      noSdk,
      noLaterFolder(CORE_FOLDERS, folder),
    ),
  })),
  {
    files: ['src/core/telemetry/{sdk-parts,sdk-configuration}.ts'],
    rules: restrict(
      noPrivateFields,
      noEntry,
      noNest,
      noTesting,
      noPlugin,
      sdkTypes,
      noLaterFolder(CORE_FOLDERS, 'telemetry'),
    ),
  },
  {
    files: ['src/nest/*.ts'],
    rules: restrict(noPrivateFields, noEntry, noDeepPath, noTesting, noPlugin, noSdk),
  },
  ...NEST_FOLDERS.map((folder) => ({
    files: [`src/nest/${folder}/**/*.ts`],
    rules: restrict(
      noPrivateFields,
      noEntry,
      noDeepPath,
      noTesting,
      noPlugin,
      noSdk,
      noNestTop,
      noLaterFolder(NEST_FOLDERS, folder),
    ),
  })),
  { files: ['src/cli/**/*.ts'], rules: restrict(noPrivateFields, noEntry, noNest, noTesting, noSdk, noCore) },
  { files: ['src/testing/**/*.ts'], rules: restrict(noPrivateFields, noEntry, noNest, noPlugin, noSdk) },
  {
    files: ['src/core/diagnostics/warnings.ts', 'src/core/telemetry/console-span-exporter.ts'],
    rules: { 'no-console': 'off' },
  },
  { ...nestLens.configs.recommended, files: ['sample-app/**/*.ts', 'test/docs/snippets/**/*.ts'] },
  {
    // Tests look at what came over the wire and call things wrongly on purpose; the strictness belongs to src.
    files: ['test/**', 'sample-app/**', 'bench/**', 'scripts/**', '*.mjs'],
    rules: {
      '@typescript-eslint/no-explicit-any': 'off',
      '@typescript-eslint/no-unsafe-argument': 'off',
      '@typescript-eslint/no-unsafe-assignment': 'off',
      '@typescript-eslint/no-unsafe-call': 'off',
      '@typescript-eslint/no-unsafe-member-access': 'off',
      '@typescript-eslint/no-unsafe-return': 'off',
      '@typescript-eslint/only-throw-error': 'off',
      '@typescript-eslint/prefer-promise-reject-errors': 'off',
      '@typescript-eslint/require-await': 'off',
      '@typescript-eslint/unbound-method': 'off',
    },
  },
  {
    // Consumers of the package, each with its own compiler settings and packages that are only there while it runs.
    files: ['compat/**'],
    extends: [tseslint.configs.disableTypeChecked],
    languageOptions: { parserOptions: { experimentalDecorators: true, emitDecoratorMetadata: true } },
    rules: { '@typescript-eslint/no-explicit-any': 'off' },
  },
  {
    files: ['**/*.{js,mjs,cjs}'],
    languageOptions: { globals: nodeGlobals },
  },
  {
    files: ['**/*.cjs', 'compat/consumers/jest-{commonjs,swc}/*.js', 'compat/**/*.js'],
    languageOptions: {
      globals: { require: 'readonly', module: 'writable', exports: 'writable', __dirname: 'readonly' },
    },
    rules: { '@typescript-eslint/no-require-imports': 'off' },
  },
);
