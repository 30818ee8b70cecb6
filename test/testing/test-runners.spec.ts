import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import ts from 'typescript';

// The example of docs/testing.md in each runner, in a process of its own, with the package as it is built. Vitest has it in
// compat/consumers/vitest.

vi.setConfig({ testTimeout: 120_000 });

const root = fileURLToPath(new URL('../..', import.meta.url));
const snippet = (name: string): string => readFileSync(`${root}test/docs/snippets/${name}.ts`, 'utf8');

/** Tests of one file that run at the same time, each in its own testbed. */
const CONCURRENT = `
  const turn = () => new Promise((resolve) => setImmediate(resolve));
  for (const spec of ['mail_send', '', 'all']) {
    concurrently('one of several tests: ' + spec, async () => {
      await using testbed = await createLensTestbed({ spec, definitions: [mailSpans] });
      for (let times = 0; times < 3; times++) {
        await sendMail('you@example.org');
        await turn();
      }
      assert.equal(testbed.spans().length, spec === '' ? 0 : 3);
    });
  }`;

const nodeTest = `${snippet('testing-library')}
  import { describe } from 'node:test';
  describe('at the same time', { concurrency: true }, () => {
    const concurrently = test;
    ${CONCURRENT}
  });`;

const jestTest = `${snippet('testing-library')}
  const concurrently = test.concurrent;
  ${CONCURRENT}`
  .replace("import assert from 'node:assert/strict';\n", '')
  .replace("'node:test'", "'@jest/globals'")
  .replace('{ test }', '{ expect, test }')
  .replace(/assert\.equal\((.*), (.*)\);/g, 'expect($1).toBe($2);');

/** In a CommonJS jest without the flag. The collector answers nobody, so that nothing else can be the reason. */
const otlpTest = `
  import { nestLensConfigFromEnv, setLensLogger, setupTelemetry, withSpan } from 'nest-lens/core';
  import { expect as expectSaid, test as testOtlp } from '@jest/globals';
  testOtlp('exports by OTLP', async () => {
    const said: string[] = [];
    setLensLogger({ warn: (message) => void said.push(message) });
    const config = nestLensConfigFromEnv({ env: {} });
    const handle = await setupTelemetry({ ...config, enabled: true, spanGroups: 'all', metricsEnabled: false });
    withSpan('exported', () => undefined);
    await handle.shutdown();
    expectSaid(said).toEqual([expectSaid.stringContaining('NODE_OPTIONS=--experimental-vm-modules')]);
  });
`;

let folder: string;

beforeAll(() => {
  mkdirSync(`${root}temp`, { recursive: true });
  folder = mkdtempSync(`${root}temp/runners-`);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Runs the tests in a folder of their own, and returns what the runner said. */
async function run(
  name: string,
  type: 'commonjs' | 'module',
  source: string,
  args: string[],
): Promise<string> {
  const home = `${folder}/${name}`;
  mkdirSync(`${home}/node_modules`, { recursive: true });
  // No package of its own: the nearest one is the checkout's, which is how it finds nest-lens by its name.
  const extension = type === 'module' ? 'mjs' : 'cjs';
  const compilerOptions = {
    target: ts.ScriptTarget.ES2022,
    module: type === 'module' ? ts.ModuleKind.ESNext : ts.ModuleKind.CommonJS,
    esModuleInterop: true,
  };
  const files = { library: snippet('library'), 'library.test': source };
  for (const [file, text] of Object.entries(files)) {
    const { outputText } = ts.transpileModule(text, { compilerOptions });
    writeFileSync(
      `${home}/${file}.${extension}`,
      outputText.replaceAll('./library.js', `./library.${extension}`),
    );
  }
  const config = {
    rootDir: home,
    testMatch: ['**/*.test.*'],
    moduleFileExtensions: ['mjs', 'cjs', 'js'],
    transform: {},
    cache: false,
  };
  writeFileSync(`${home}/jest.config.json`, JSON.stringify(config));
  const { stdout, stderr } = await promisify(execFile)(
    process.execPath,
    ['--disable-warning=ExperimentalWarning', ...args],
    { cwd: home, env: { PATH: process.env.PATH, NO_COLOR: '1' } },
  ).catch((failed: { stdout: string; stderr: string }) => {
    throw new Error(`${failed.stdout}\n${failed.stderr}`);
  });
  return stdout + stderr;
}

const JEST = `${root}node_modules/jest/bin/jest.js`;

describe('createLensTestbed', () => {
  it.each([
    ['commonjs', 'cjs'],
    ['module', 'mjs'],
  ] as const)('works with node:test, in %s', async (type, extension) => {
    const said = await run(`node-${type}`, type, nodeTest, ['--test', `library.test.${extension}`]);
    expect(said).toMatch(/pass 4\b/);
    expect(said).toMatch(/fail 0\b/);
  });

  it('works with jest, in commonjs, where H14: an exporter that jest keeps from loading is said with the flag', async () => {
    const source = otlpTest + jestTest;
    const said = await run('jest-commonjs', 'commonjs', source, [JEST, '-c', 'jest.config.json']);
    expect(said).toContain('5 passed, 5 total');
  });

  it('works with jest, in module', async () => {
    const args = ['--experimental-vm-modules', JEST, '-c', 'jest.config.json'];
    expect(await run('jest-module', 'module', jestTest, args)).toContain('4 passed, 4 total');
  });
});
