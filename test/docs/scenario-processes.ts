import { fileURLToPath } from 'node:url';
import { expect } from 'vitest';
import { folderWith } from '../support/folder-with.js';
import { once } from '../support/once.js';
import { startReceiver } from '../support/otlp-receiver.js';
import { type ShopProcess, startShop } from '../support/shop-process.js';
import { type ShopWithFile, shopWithFile } from '../support/shop-with-file.js';

export type Exit = Awaited<ShopProcess['exited']>;

export interface Looked {
  shop: ShopProcess;
  /** What a request was answered. */
  answer: string;
  /** When -> what the process had of OpenTelemetry. */
  seen: Record<
    'atLoad' | 'atInit' | 'now',
    { sdkPackages: string[]; tracerProvider: string; meterProvider: string }
  >;
  telemetry: { enabled: boolean; exporting: boolean; mode: string | null };
  groupsOn: string[];
  codes: string[];
}

/** Asks a process that serves what it has. */
export async function look(shop: ShopProcess): Promise<Looked> {
  const answer = await shop.get('/orders');
  const [seen, lens] = await Promise.all(
    ['/seen', '/lens/groups'].map(async (path) => JSON.parse(await shop.get(path))),
  );
  const codes = lens.warnings.map(({ code }: { code: string }) => code) as string[];
  return { shop, answer, seen, telemetry: lens.telemetry, groupsOn: lens.enabled, codes };
}

/** Makes a span that waits to be exported. */
export async function serve(special: Record<string, unknown> = {}): Promise<ShopWithFile> {
  const shop = shopWithFile(special);
  await shop.process.get('/orders');
  expect(shop.names()).toEqual([]);
  return shop;
}

/** Makes one that waits, and one that is open. */
export async function serveAndHang(
  special: Record<string, unknown> = {},
): Promise<ShopWithFile & { abort(): void }> {
  const shop = await serve(special);
  const client = new AbortController();
  const { signal } = client;
  fetch(`${await shop.process.url()}/hang`, { signal }).catch(() => undefined);
  await shop.process.says(/HANGING/);
  return { ...shop, abort: () => client.abort() };
}

/**
 * Three processes that outlive the two seconds within which something has to listen to SIGTERM: one with hooks, one without, and
 * one whose application is in a worker thread. Cases of the start and of the end look at what they say and how they end.
 */
export const onceTwoSecondsOld = once(async () => {
  const [receiver, another] = [await startReceiver(), await startReceiver()];
  const shopFile = JSON.stringify(fileURLToPath(new URL('../lifecycle/fixtures/shop.mjs', import.meta.url)));
  const inWorker = folderWith({
    'main.mjs': `import { Worker } from 'node:worker_threads'; new Worker(${shopFile});`,
  });
  const threaded = startShop({
    shop: { noHooks: true },
    script: `${inWorker}/main.mjs`,
    env: { OTEL_EXPORTER_OTLP_ENDPOINT: another.url },
  });
  const listening = startShop({
    env: { OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url, OTEL_SERVICE_NAME: 'anvils' },
  });
  const withHooks = await look(listening);
  await threaded.url();
  const began = performance.now();
  // It starts after the others, which are as old as that when it warns.
  const bare = await serveAndHang({ noHooks: true });
  await bare.process.says(/enableShutdownHooks/);
  const warnedAfter = performance.now() - began;
  const withoutHooks = await look(bare.process);
  const inThread = await look(threaded);
  const [exit] = await Promise.all([bare.process.kill('SIGTERM'), listening.kill('SIGTERM')]);
  return {
    withHooks: { ...withHooks, receiver },
    withoutHooks: { ...withoutHooks, warnedAfter, exit, names: bare.names() },
    inThread,
  };
});
