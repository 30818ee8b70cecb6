import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEachTest } from './after-each-test.js';
import { SHORT_LIVED } from './short-lived.js';

const root = fileURLToPath(new URL('../..', import.meta.url));
const fixtures = fileURLToPath(new URL('../lifecycle/fixtures', import.meta.url));

export interface ShopProcessOptions {
  /** Arguments of node before the script. */
  nodeArguments?: string[];
  /** A file of `test/lifecycle/fixtures`, or a whole path. */
  script?: string;
  /** Arguments of node after the script. */
  scriptArguments?: string[];
  /** Where it is started. */
  cwd?: string;
  /** What is special about the shop; see the fixture. */
  shop?: Record<string, unknown>;
  /** Undefined: not even what a shop has by default. */
  env?: Record<string, string | undefined>;
  /** With `file` it outlives the test, reads lines, and is ended by the spec itself. */
  lives?: 'test' | 'file';
}

/** A fixture in a process of its own, with no variable of OpenTelemetry or NestLens but those that are given. */
export class ShopProcess {
  output = '';
  readonly child: ChildProcess;
  readonly exited: Promise<{ code: number | null; signal: NodeJS.Signals | null }>;
  #waiting: { pattern: RegExp; resolve: (match: RegExpExecArray) => void }[] = [];

  constructor({
    nodeArguments = [],
    script = 'shop.mjs',
    scriptArguments = [],
    cwd = root,
    shop = {},
    env = {},
    lives = 'test',
  }: ShopProcessOptions) {
    const inherited = Object.entries(process.env).filter(
      ([name]) => !/^(OTEL|NEST_LENS|NEMO_LENS)_|^NODE_OPTIONS$/.test(name),
    );
    const v8 = lives === 'test' ? SHORT_LIVED : [];
    const command = [...v8, ...nodeArguments, resolve(fixtures, script), ...scriptArguments];
    this.child = spawn(process.execPath, command, {
      cwd,
      env: {
        ...Object.fromEntries(inherited),
        NO_COLOR: '1',
        NEST_LENS_ENABLED: 'true',
        NEST_LENS_METRICS_ENABLED: 'no',
        OTEL_LOGS_EXPORTER: 'none',
        // Making all that are installed takes more than half a second.
        OTEL_NODE_ENABLED_INSTRUMENTATIONS: 'http',
        SHOP: JSON.stringify(shop),
        ...env,
      },
      stdio: [lives === 'file' ? 'pipe' : 'ignore', 'pipe', 'pipe'],
    });
    for (const stream of [this.child.stdout!, this.child.stderr!]) {
      stream.on('data', (chunk: Buffer) => {
        this.output += chunk.toString();
        this.#waiting = this.#waiting.filter(({ pattern, resolve }) => {
          const match = pattern.exec(this.output);
          if (match !== null) resolve(match);
          return match === null;
        });
      });
    }
    this.exited = once(this.child, 'close').then(([code, signal]) => ({
      code: code as number | null,
      signal: signal as NodeJS.Signals | null,
    }));
    if (lives === 'test') running.add(this);
  }

  /** Resolves when the output has it; rejects when the process ends before. */
  async says(pattern: RegExp): Promise<RegExpExecArray> {
    const now = pattern.exec(this.output);
    if (now !== null) return now;
    const said = new Promise<RegExpExecArray>((resolve) => this.#waiting.push({ pattern, resolve }));
    const ended = this.exited.then(() => {
      throw new Error(`it ended without saying ${pattern}: ${this.output}`);
    });
    return Promise.race([said, ended]);
  }

  /** Gives it one more line to read. */
  write(line: string): void {
    this.child.stdin!.write(`${line}\n`);
  }

  /** Lets it know that no line will come any more. */
  endInput(): void {
    this.child.stdin!.end();
  }

  /** Resolves to the address that it serves at. */
  async url(): Promise<string> {
    return (await this.says(/READY (\S+)/))[1]!;
  }

  async get(path: string): Promise<string> {
    return (await fetch(`${await this.url()}${path}`)).text();
  }

  kill(signal: NodeJS.Signals): Promise<{ code: number | null; signal: NodeJS.Signals | null }> {
    this.child.kill(signal);
    return this.exited;
  }

  /** The warnings of NestLens, as they were logged. */
  warnings(): string[] {
    return this.output.split('\n').filter((line) => /\[NestLens\]|WARN|ERROR/.test(line));
  }
}

const running = new Set<ShopProcess>();

export function startShop(options: ShopProcessOptions = {}): ShopProcess {
  return new ShopProcess(options);
}

afterEachTest(async () => {
  for (const shop of running) if (shop.child.exitCode === null) await shop.kill('SIGKILL');
  running.clear();
});
