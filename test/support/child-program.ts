import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { minify } from '@swc/core';
import { compileProgram } from './compile-program.js';
import { SHORT_LIVED } from './short-lived.js';

const root = fileURLToPath(new URL('../..', import.meta.url));
const programs = fileURLToPath(new URL('../transports/programs', import.meta.url));

export interface ChildProgram {
  /** What it sent first, when it was ready. */
  readonly ready: any;
  /** Sends a message, and resolves with the answer. */
  ask(message: unknown): Promise<any>;
  /** What it wrote so far, to both outputs. */
  output(): string;
  stop(): Promise<void>;
}

const running = new Set<ChildProcess>();

/**
 * Runs a program of `test/transports/programs` in a process of its own, with the package as it is built. Such a program sends a message when it is ready, answers every message, and ends when it is disconnected.
 *
 * @param nodeOptions options of node; files of `programs` in them are compiled as well
 * @param minified with the names of classes and variables shortened, as bundlers do
 */
export async function startProgram(
  main: string,
  {
    nodeOptions = [],
    env = {},
    minified = false,
  }: { nodeOptions?: string[]; env?: Record<string, string>; minified?: boolean } = {},
): Promise<ChildProgram> {
  mkdirSync(`${root}temp`, { recursive: true });
  const folder = mkdtempSync(`${root}temp/program-`);
  const files = [main, ...nodeOptions.filter((option) => option.startsWith('./'))];
  for (const file of files.map((name) => name.replace(/^\.\//, '').replace(/\.js$/, ''))) {
    const code = compileProgram(readFileSync(`${programs}/${file}.ts`, 'utf8'));
    writeFileSync(`${folder}/${file}.js`, minified ? await minifyNames(code) : code);
  }
  const child = spawn(
    process.execPath,
    [...SHORT_LIVED, ...nodeOptions, `${folder}/${main.replace(/\.js$/, '')}.js`],
    {
      cwd: folder,
      env: { ...process.env, ...env, NODE_OPTIONS: '', NO_COLOR: '1' },
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    },
  );
  running.add(child);
  child.once('exit', () => running.delete(child));
  let output = '';
  for (const stream of [child.stdout!, child.stderr!]) {
    stream.on('data', (chunk: Buffer) => (output += chunk.toString()));
  }
  const answer = async (): Promise<unknown> => {
    const waiting = new AbortController();
    const { signal } = waiting;
    const ended = once(child, 'exit', { signal }).then(([code]) => {
      throw new Error(`${main} ended with ${code}: ${output}`);
    });
    try {
      const [message] = (await Promise.race([once(child, 'message', { signal }), ended])) as [unknown];
      return message;
    } finally {
      ended.catch(() => undefined);
      waiting.abort();
    }
  };
  let ready: unknown;
  try {
    ready = await answer();
  } catch (reason) {
    await stop(child, folder);
    throw reason;
  }
  return {
    ready,
    ask: (message) => {
      const answered = answer();
      child.send(message as object);
      return answered;
    },
    output: () => output,
    stop: () => stop(child, folder),
  };
}

async function stop(child: ChildProcess, folder: string): Promise<void> {
  if (child.exitCode === null && child.signalCode === null) {
    const ended = once(child, 'exit');
    child.kill('SIGKILL');
    await ended;
  }
  rmSync(folder, { recursive: true, force: true });
}

async function minifyNames(code: string): Promise<string> {
  const options = { module: true, mangle: { toplevel: true }, compress: false } as const;
  return (await minify(code, options)).code;
}
