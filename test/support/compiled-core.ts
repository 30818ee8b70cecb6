import { execFile } from 'node:child_process';
import { cp, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { promisify } from 'node:util';

const root = fileURLToPath(new URL('../..', import.meta.url));
const run = promisify(execFile);
/** The same code twice: two copies of the package, as two installed versions would be. */
const COPIES = ['one', 'two'];

/** The core as it is built, in a folder of its own, for tests that need a whole process to themselves. */
export interface CompiledCore {
  /** Runs an ES module in a new Node process; `core` and `copy` are the addresses of two copies of it. Returns its output. */
  run(script: string, env?: NodeJS.ProcessEnv): Promise<{ stdout: string; stderr: string }>;
  remove(): Promise<void>;
}

export async function compileCore(): Promise<CompiledCore> {
  const folder = await mkdtemp(path.join(tmpdir(), 'nest-lens-core-'));
  await writeFile(path.join(folder, 'package.json'), '{"type":"module"}');
  await symlink(path.join(root, 'node_modules'), path.join(folder, 'node_modules'), 'dir');
  for (const copy of COPIES) {
    for (const part of ['core.js', 'core']) {
      await cp(path.join(root, 'dist/esm', part), path.join(folder, copy, part), {
        recursive: true,
        filter: (file) => !/\.(d\.ts|map)$/.test(file),
      });
    }
  }
  const [core, copy] = COPIES.map((each) => pathToFileURL(path.join(folder, each, 'core.js')).href);
  const addresses = `const core = ${JSON.stringify(core)}, copy = ${JSON.stringify(copy)};`;
  return {
    run: (script, env = {}) =>
      run(process.execPath, ['--no-opt', '--input-type=module', '-e', `${addresses}\n${script}`], {
        cwd: folder,
        env: { PATH: process.env.PATH, ...env },
        timeout: 30_000,
      }),
    remove: () => rm(folder, { recursive: true, force: true }),
  };
}
