import { NestFactory } from '@nestjs/core';
import type { tracing } from '@opentelemetry/sdk-node';
import { type LensWarning, setLensLogger } from 'nest-lens';
import { AppModule } from '../app.module.js';
import { DEMO_REQUESTS, type DemoRequest } from './demo-requests.js';
import type { LensDocument } from './lens-document.js';
import { SpanCollector } from './span-collector.js';

/** What one start of the shop showed. */
export interface ShopRun {
  /** The statuses of the answers to the demo's requests. */
  statuses: number[];
  /** The answer of `GET /lens/groups`. */
  document: LensDocument;
  /** All that was exported, in the order in which it started. */
  spans: readonly tracing.ReadableSpan[];
  warnings: readonly LensWarning[];
}

/** Starts a fresh shop with these variables, sends it the demo's requests over HTTP, and closes it again. */
export async function runShop(variables: Readonly<Record<string, string>>): Promise<ShopRun> {
  replaceVariables(variables);
  const warnings: LensWarning[] = [];
  setLensLogger({ warn: (_message, warning) => warnings.push(warning) });
  const collector = new SpanCollector();
  const app = await NestFactory.create(AppModule.create({ telemetry: { spanExporter: collector } }), {
    logger: false,
    abortOnError: false,
  });

  const statuses: number[] = [];
  let document: LensDocument;
  try {
    app.enableShutdownHooks(); // as main.ts does
    await app.listen(0, '127.0.0.1');
    const url = await app.getUrl();
    for (const request of DEMO_REQUESTS) statuses.push(await send(url, request));
    document = (await (await fetch(`${url}/lens/groups`)).json()) as LensDocument;
  } finally {
    // Closing flushes: only then the collector has every span.
    await app.close();
  }
  return { statuses, document, spans: collector.spans, warnings };
}

async function send(url: string, { method, path, body }: DemoRequest): Promise<number> {
  const response = await fetch(url + path, {
    method,
    ...(body === undefined
      ? {}
      : { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
  });
  // To the end: an event stream is over when its last event has come.
  await response.text();
  return response.status;
}

/** The caller's own settings would change what the demo shows. */
function replaceVariables(variables: Readonly<Record<string, string>>): void {
  for (const name of Object.keys(process.env)) {
    if (/^(NEST_LENS|NEMO_LENS|OTEL)_/.test(name)) delete process.env[name];
  }
  Object.assign(process.env, variables);
}
