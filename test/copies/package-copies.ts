import { execFile } from 'node:child_process';
import { cp, mkdtemp, readdir, readFile, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { promisify } from 'node:util';

const root = fileURLToPath(new URL('../..', import.meta.url));
const run = promisify(execFile);

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

/**
 * An ES module, and how its two copies of the package, which are called `one` and `two`, differ from the build. It gives a value to
 * `result(value)`; `load(copy, entry?, build?)` loads an entry of a copy.
 */
export interface CopiesScript {
  script: string;
  one?: CopyChanges;
  two?: CopyChanges;
}

export interface ScriptRun<T> {
  result: T;
  /** What it wrote besides. */
  stderr: string;
}

const BUILDS = ['node', 'cjs'];
/** What stands in the outputs before what each script writes. */
const NEXT = '\nNEXT SCRIPT\n';

/** Installs the built package in a folder of its own, as another version of it would be. */
async function installCopy(home: string, { version, protocol }: CopyChanges): Promise<void> {
  for (const build of BUILDS) {
    const from = join(root, 'dist', build);
    // What is run, not the declarations and maps.
    const files = (await readdir(from, { recursive: true })).filter((name) =>
      /\.js$|package\.json$/.test(name),
    );
    const to = join(home, 'dist', build);
    await Promise.all(files.map((name) => cp(join(from, name), join(to, name))));
    if (version !== undefined) await change(to, /VERSION = "[^"]+"/, `VERSION = "${version}"`);
    if (protocol !== undefined) await change(to, /const PROTOCOL = \d+/, `const PROTOCOL = ${protocol}`);
  }
  await cp(join(root, 'package.json'), join(home, 'package.json'));
}

/**
 * Runs the scripts one after the other. They share a process, so that Nest and the SDK are loaded once; each has copies of the
 * package that nobody has loaded before, and finds no state of another one.
 */
export async function runOnCopies<T>(scripts: readonly CopiesScript[]): Promise<ScriptRun<T>[]> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'nest-lens-copies-')));
  try {
    // The peers are those of the checkout, one copy for all, as npm installs them.
    await symlink(join(root, 'node_modules'), join(folder, 'node_modules'), 'dir');
    for (const [at, { script, one = {}, two = {} }] of scripts.entries()) {
      const homes = { one: join(folder, `${at}/one/nest-lens/`), two: join(folder, `${at}/two/nest-lens/`) };
      await installCopy(homes.one, one);
      await installCopy(homes.two, two);
      const addresses = Object.entries(homes).map(([copy, path]) => [copy, pathToFileURL(path).href]);
      // A file, so that an error names a line; decorators are written as calls.
      await writeFile(
        join(folder, `${at}.mjs`),
        `
        import { createRequire } from 'node:module';
        import { fileURLToPath as pathOf } from 'node:url';
        const homes = ${JSON.stringify(Object.fromEntries(addresses))};
        const require = createRequire(homes.one);
        const load = async (copy, entry = 'core', build = 'node') => {
          const file = new URL('dist/' + build + '/' + entry + '.js', homes[copy]);
          return build === 'cjs' ? require(pathOf(file)) : import(file.href);
        };
        const result = (value) => process.stdout.write('\\nRESULT ' + JSON.stringify(value) + '\\n');
        const SLOT = Symbol.for('nest-lens.state.1');
        ${script}`,
      );
    }
    const main = `
      for (let at = 0; at < ${scripts.length}; at++) {
        for (const key of Object.getOwnPropertySymbols(globalThis)) {
          if (Symbol.keyFor(key)?.startsWith('nest-lens')) delete globalThis[key];
        }
        for (const output of [process.stdout, process.stderr]) output.write(${JSON.stringify(NEXT)});
        await import('./' + at + '.mjs');
      }`;
    await writeFile(join(folder, 'main.mjs'), main);
    const { stdout, stderr } = await run(
      process.execPath,
      ['--no-opt', '--disable-warning=ExperimentalWarning', 'main.mjs'],
      { cwd: folder, env: { PATH: process.env.PATH }, timeout: 60_000 },
    );
    const [written, complained] = [stdout, stderr].map((output) => output.split(NEXT).slice(1));
    return scripts.map((_script, at) => {
      const line = written![at]!.split('\n').findLast((text) => text.startsWith('RESULT '));
      if (line === undefined) throw new Error(`Script ${at} gave no result.\n${stdout}\n${stderr}`);
      return { result: JSON.parse(line.slice('RESULT '.length)) as T, stderr: complained![at]! };
    });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
