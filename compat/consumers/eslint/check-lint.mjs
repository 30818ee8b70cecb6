// Lints a right and a wrong file by ESLint's command line, with the plugin from an ES module and from CommonJS.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { promisify } from 'node:util';

const run = promisify(execFile);
const CONFIGS = ['import.config.mjs', 'require.config.cjs', 'parts.config.cjs'];
const { version } = JSON.parse(readFileSync('node_modules/eslint/package.json', 'utf8'));

async function lint(config) {
  const args = ['node_modules/eslint/bin/eslint.js', '--config', config, '--format', 'json', 'source'];
  const { stdout } = await run(process.execPath, args).catch((error) => error);
  return Object.fromEntries(
    JSON.parse(stdout).map(({ filePath, messages }) => [
      filePath.split(/[/\\]/).at(-1),
      messages.map(({ ruleId, severity, message }) => `${ruleId ?? message} ${severity}`).sort(),
    ]),
  );
}

for (const config of CONFIGS) {
  assert.deepEqual(await lint(config), {
    'right.cjs': [],
    'wrong.js': [
      'nest-lens/attributes-as-function 2',
      'nest-lens/constant-group 2',
      'nest-lens/no-dropped-promise 2',
      'nest-lens/noun-name 1',
      'nest-lens/snake-case-name 2',
    ],
  });
}

// The compiler accepts the plugin where a typed configuration wants one.
if (existsSync('node_modules/typescript')) {
  const args = ['--noEmit', '--strict', '--skipLibCheck', '--module', 'nodenext', 'typed.config.mts'];
  await run(process.execPath, ['node_modules/typescript/bin/tsc', ...args]).catch(({ stdout }) =>
    assert.fail(stdout),
  );
}

const note = `ESLint ${version}: ${CONFIGS.join(', ')}`;
appendFileSync(
  process.env.NEST_LENS_COMPAT_REPORT,
  `${JSON.stringify({ node: process.versions.node, note })}\n`,
);
