// The library in bundles and before the compiler, whether the application has NestLens or not.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';

const MAIL = { to: 'ada@example.org', text: 'Dear ada@example.org' };
const FORMATS = [
  ['mail.cjs', 'cjs'],
  ['mail.mjs', 'esm'],
];
/** In the ES modules that esbuild makes nothing of CommonJS finds Node's own modules, unless it has a banner. */
const WITHOUT_REQUIRE = ['esbuild mail.mjs', 'tsup mail.mjs'];

execFileSync(
  process.execPath,
  ['node_modules/typescript/bin/tsc', '--noEmit', '--module', 'nodenext', '--strict', 'programs/types.mts'],
  { stdio: 'inherit' },
);

// A bundler follows NestLens to the API, which is no optional peer of it.
if (process.env.EXPECTED !== 'nest-lens alone') {
  const isInstalled = existsSync('node_modules/nest-lens');
  const { BUNDLERS } = await import('./bundlers.mjs');
  mkdirSync('out', { recursive: true });
  for (const [name, bundle] of Object.entries(BUNDLERS)) {
    for (const [file, format] of FORMATS) {
      const output = `out/${name}-${file}`;
      const warnings = await bundle(`programs/${file}`, output, format);
      const [work, lens] = execFileSync(process.execPath, [output], { encoding: 'utf8' }).split('\n');
      assert.deepEqual(JSON.parse(work), ['mail_send', MAIL]);
      const isFound = isInstalled && !WITHOUT_REQUIRE.includes(`${name} ${file}`);
      assert.deepEqual([output, lens], [output, isFound ? 'NestLens' : 'no NestLens']);
      // webpack and Rspack say that an optional package isn't there.
      const unexpected = warnings.filter((text) => isInstalled || !/resolve 'nest-lens\/core'/.test(text));
      assert.deepEqual(unexpected, []);
    }
  }
}
