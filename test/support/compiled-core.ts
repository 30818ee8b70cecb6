import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import ts from 'typescript';

const root = fileURLToPath(new URL('../..', import.meta.url));
const run = promisify(execFile);
/** The same code twice: two copies of the package, as two installed versions would be. */
const COPIES = ['one', 'two'];

/** The core as plain JavaScript in a folder of its own, for tests that need a whole process to themselves. */
export interface CompiledCore {
  /** Runs an ES module in a new Node process; `core` and `copy` are the addresses of two copies of it. Returns its output. */
  run(script: string, env?: NodeJS.ProcessEnv): Promise<{ stdout: string; stderr: string }>;
  remove(): Promise<void>;
}

export async function compileCore(): Promise<CompiledCore> {
  const folder = await mkdtemp(path.join(tmpdir(), 'nest-lens-core-'));
  const inside = await readdir(path.join(root, 'src/core'), { recursive: true });
  const sources = ['core.ts', ...inside.filter((file) => file.endsWith('.ts')).map((file) => `core/${file}`)];
  await mkdir(folder, { recursive: true });
  await writeFile(path.join(folder, 'package.json'), '{"type":"module"}');
  await symlink(path.join(root, 'node_modules'), path.join(folder, 'node_modules'), 'dir');
  for (const source of sources) {
    const text = await readFile(path.join(root, 'src', source), 'utf8');
    const { outputText } = ts.transpileModule(text, {
      compilerOptions: { target: ts.ScriptTarget.ES2022, module: ts.ModuleKind.ES2022 },
    });
    for (const copy of COPIES) {
      const compiled = path.join(folder, copy, source.replace(/\.ts$/, '.js'));
      await mkdir(path.dirname(compiled), { recursive: true });
      await writeFile(compiled, outputText);
    }
  }
  const [core, copy] = COPIES.map((each) => pathToFileURL(path.join(folder, each, 'core.js')).href);
  const addresses = `const core = ${JSON.stringify(core)}, copy = ${JSON.stringify(copy)};`;
  return {
    run: (script, env = {}) =>
      run(process.execPath, ['--input-type=module', '-e', `${addresses}\n${script}`], {
        cwd: folder,
        env: { PATH: process.env.PATH, ...env },
        timeout: 30_000,
      }),
    remove: () => rm(folder, { recursive: true, force: true }),
  };
}
