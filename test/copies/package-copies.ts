import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, readdir, readFile, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { promisify } from 'node:util';

const root = fileURLToPath(new URL('../..', import.meta.url));
const run = promisify(execFile);

/** The built package, installed in folders of its own, as several versions of it would be. */
export interface PackageCopies {
  /**
   * Runs an ES module in a new Node process and returns the value that it gave to `result(value)`, and what it wrote besides.
   * `load(copy, entry?, build?)` loads an entry of a copy; the copies are called `one` and `two`.
   */
  run<T>(script: string): Promise<{ result: T; stderr: string }>;
  remove(): Promise<void>;
}

/** Changes a constant, in whichever file the build has put it. */
async function change(build: string, from: RegExp, to: string): Promise<void> {
  const chunks = join(build, 'chunks');
  let changed = 0;
  for (const file of (await readdir(chunks)).map((name) => join(chunks, name))) {
    const source = await readFile(file, 'utf8');
    if (!from.test(source)) continue;
    await writeFile(file, source.replace(from, to));
    changed++;
  }
  if (changed !== 1) throw new Error(`${changed} files in ${chunks} have something like ${from}`);
}

/** How an installed copy differs from the build. */
export interface CopyChanges {
  version?: string;
  /** The number of its shared state. */
  protocol?: number;
}

export async function installCopies(
  changes: { one?: CopyChanges; two?: CopyChanges } = {},
): Promise<PackageCopies> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'nest-lens-copies-')));
  // The peers are those of the checkout, one copy for all, as npm installs them.
  await symlink(join(root, 'node_modules'), join(folder, 'node_modules'), 'dir');
  for (const copy of ['one', 'two'] as const) {
    const home = join(folder, copy, 'nest-lens');
    await mkdir(home, { recursive: true });
    await cp(join(root, 'package.json'), join(home, 'package.json'));
    // What is run, not the declarations and maps.
    const filter = (path: string): boolean => !/\.(d\.ts|map)$/.test(path);
    await cp(join(root, 'dist'), join(home, 'dist'), { recursive: true, filter });
    const { version, protocol } = changes[copy] ?? {};
    for (const build of ['node', 'cjs'].map((each) => join(home, 'dist', each))) {
      if (version !== undefined) await change(build, /VERSION = "[^"]+"/, `VERSION = "${version}"`);
      if (protocol !== undefined) await change(build, /const PROTOCOL = \d+/, `const PROTOCOL = ${protocol}`);
    }
  }
  const address = (path: string): string => JSON.stringify(pathToFileURL(join(folder, path)).href);
  const prelude = `
    import { createRequire } from 'node:module';
    import { fileURLToPath as pathOf } from 'node:url';
    const homes = { one: ${address('one/nest-lens/')}, two: ${address('two/nest-lens/')} };
    const require = createRequire(homes.one);
    const load = async (copy, entry = 'core', build = 'node') => {
      const file = new URL('dist/' + build + '/' + entry + '.js', homes[copy]);
      return build === 'cjs' ? require(pathOf(file)) : import(file.href);
    };
    const result = (value) => process.stdout.write('\\nRESULT ' + JSON.stringify(value) + '\\n');
    const SLOT = Symbol.for('nest-lens.state.1');
  `;
  const script = join(folder, 'one', 'script.mjs');
  return {
    async run(body) {
      // A file, so that an error names a line; decorators are written as calls.
      await writeFile(script, `${prelude}\n${body}`);
      const { stdout, stderr } = await run(
        process.execPath,
        ['--no-opt', '--disable-warning=ExperimentalWarning', script],
        {
          cwd: join(folder, 'one'),
          env: { PATH: process.env.PATH },
          timeout: 60_000,
        },
      );
      const line = stdout.split('\n').findLast((text) => text.startsWith('RESULT '));
      if (line === undefined) throw new Error(`The script gave no result.\n${stdout}\n${stderr}`);
      return { result: JSON.parse(line.slice('RESULT '.length)), stderr };
    },
    remove: () => rm(folder, { recursive: true, force: true }),
  };
}
