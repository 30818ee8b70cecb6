import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { runCommandLine } from '../../src/cli/run-command-line.js';

/** The binary of the package, as it is built. */
const binary = (format: 'node' | 'cjs'): string =>
  fileURLToPath(new URL(`../../dist/${format}/cli/bin.js`, import.meta.url));

export interface CommandOutcome {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

/** `nest-lens` in a process of its own, which may go on for a while. */
export class RunningCommand {
  out = '';
  err = '';
  readonly child: ChildProcess;
  readonly outcome: Promise<CommandOutcome>;

  constructor(args: readonly string[], env: Record<string, string> = {}, format: 'node' | 'cjs' = 'node') {
    const inherited = Object.entries(process.env).filter(
      ([name]) => !/^NEST_LENS_|COLOR|^NODE_OPTIONS$/.test(name),
    );
    this.child = spawn(process.execPath, [binary(format), ...args], {
      env: { ...Object.fromEntries(inherited), ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.child.stdout!.on('data', (chunk: Buffer) => (this.out += chunk.toString()));
    this.child.stderr!.on('data', (chunk: Buffer) => (this.err += chunk.toString()));
    this.outcome = once(this.child, 'close').then(([code]) => ({
      code: code as number | null,
      out: this.out,
      err: this.err,
    }));
  }

  /** Resolves when it has written that; rejects when it ends before. */
  async says(pattern: RegExp): Promise<void> {
    while (!pattern.test(this.out + this.err)) {
      const heard = new AbortController();
      const more = [this.child.stdout!, this.child.stderr!].map((stream) =>
        once(stream, 'data', { signal: heard.signal }),
      );
      const ended = this.outcome.then(({ out, err }) => {
        if (!pattern.test(out + err)) throw new Error(`it ended without saying ${pattern}: ${out}${err}`);
      });
      // The other stream is listened to no longer.
      await Promise.race([...more, ended]).finally(() => heard.abort());
    }
  }
}

/** Runs `nest-lens` to its end. */
export function runCommand(
  args: readonly string[],
  env?: Record<string, string>,
  format?: 'node' | 'cjs',
): Promise<CommandOutcome> {
  return new RunningCommand(args, env, format).outcome;
}

/** The same in this process, which is faster: for what a command says. */
export async function runInProcess(
  args: readonly string[],
  env: Record<string, string> = {},
  isTTY = false,
): Promise<CommandOutcome> {
  let [out, err] = ['', ''];
  const code = await runCommandLine(args, {
    stdout: { isTTY, write: (text) => void (out += text) },
    stderr: { write: (text) => void (err += text) },
    env,
  });
  return { code, out, err };
}
