import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { LensDocument } from './lens-document.js';

const TOKEN = 'for-the-demo';

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
        env: { ...Object.fromEntries(own), ...variables, SHOP_LENS_TOKEN: TOKEN, PORT: '0', NO_COLOR: '1' },
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
  async order(): Promise<number> {
    const card = '4242424242424242';
    const body = JSON.stringify({ lines: [{ productId: 2, quantity: 1 }], card });
    const begin = performance.now();
    const response = await fetch(`${this.url}/orders`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
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
    const response = await fetch(`${this.url}/lens/groups`, {
      method: 'PUT',
      headers: { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' },
      body: JSON.stringify({ spec, ttlSeconds }),
    });
    if (!response.ok) throw new Error(`PUT /lens/groups: ${response.status} ${await response.text()}`);
  }

  async stop(): Promise<void> {
    this.child.kill('SIGTERM');
    if (this.child.exitCode === null && this.child.signalCode === null) await once(this.child, 'exit');
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
