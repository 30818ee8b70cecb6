import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { signSpanGroups } from 'nest-lens';
import type { LensDocument, Preview } from './lens-document.js';

const TOKEN = 'for-the-demo';
const SIGNING_KEY = 'for-the-demo-and-nothing-else';

/** The shop in a process of its own, started as `npm start` does. */
export class ShopProcess {
  /** @param variables besides this process's own; those of NestLens and OpenTelemetry are these alone */
  static async start(variables: Readonly<Record<string, string>>): Promise<ShopProcess> {
    const own = Object.entries(process.env).filter(([name]) => !/^(NEST_LENS|NEMO_LENS|OTEL)_/.test(name));
    const path = (file: string) => fileURLToPath(new URL(`../${file}`, import.meta.url));
    const child = spawn(
      process.execPath,
      ['--import', new URL('../tracing.js', import.meta.url).href, path('main.js')],
      {
        env: {
          ...Object.fromEntries(own),
          ...variables,
          SHOP_LENS_TOKEN: TOKEN,
          NEST_LENS_SIGNING_KEY: SIGNING_KEY,
          PORT: '0',
          NO_COLOR: '1',
        },
        stdio: ['ignore', 'pipe', 'inherit'],
      },
    );
    return new ShopProcess(child, await urlOf(child));
  }

  private constructor(
    private readonly child: ChildProcess,
    private readonly url: string,
  ) {}

  /** @returns how long the answer took, in milliseconds */
  async order(headers: Readonly<Record<string, string>> = {}): Promise<number> {
    const card = '4242424242424242';
    const body = JSON.stringify({ lines: [{ productId: 2, quantity: 1 }], card });
    const begin = performance.now();
    const response = await fetch(`${this.url}/orders`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body,
    });
    await response.text();
    return performance.now() - begin;
  }

  async document(): Promise<LensDocument> {
    return (await (await fetch(`${this.url}/lens/groups`)).json()) as LensDocument;
  }

  /** Overrides the spec of the running process for a while. */
  async override(spec: string, ttlSeconds: number): Promise<void> {
    await this.change('PUT', '/lens/groups', { spec, ttlSeconds });
  }

  /** Counts for a while what groups would make, and turns nothing on. */
  async preview(spec: string, seconds: number): Promise<Preview> {
    return (await this.change('POST', '/lens/groups/preview', { spec, seconds })) as Preview;
  }

  /** The header that turns groups on for the request that carries it. */
  signed(spec: string): Record<string, string> {
    return { 'x-lens-groups': signSpanGroups(spec, { key: SIGNING_KEY, ttlMs: 60_000 }) };
  }

  async stop(): Promise<void> {
    this.child.kill('SIGTERM');
    if (this.child.exitCode === null && this.child.signalCode === null) await once(this.child, 'exit');
  }

  private async change(method: string, path: string, body: object): Promise<unknown> {
    const response = await fetch(`${this.url}${path}`, {
      method,
      headers: { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
    return response.json();
  }
}

/** The shop says where it listens. */
function urlOf(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = '';
    child.stdout!.on('data', (part) => {
      text += String(part);
      const url = /The shop listens on (\S+)/.exec(text)?.[1];
      if (url !== undefined) resolve(url);
    });
    child.once('exit', () => reject(new Error(`The shop did not start:\n${text}`)));
  });
}
