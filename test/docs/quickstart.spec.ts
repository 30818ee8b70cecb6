import { interceptPrintedSpans } from '../support/printed-spans.js';
import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it, vi } from 'vitest';
import type { INestApplication } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { startReceiver } from '../support/otlp-receiver.js';
import { startCompiled } from './compiled-snippets.js';
import { quoted, readPage } from './documentation.js';
import {
  aroundSnippets,
  closeApps,
  closeLater,
  codes,
  importAnew,
  json,
  setEnv,
  warnings,
} from './running-snippets.js';
import { names, type PlainSpan, tree } from './span-tree.js';

const readme = readPage('README.md');

describe('the quickstart of README.md', () => {
  aroundSnippets();

  /** The quickstart with these variables: one request, the document, and the spans that it printed. */
  async function runQuickstart(variables: Record<string, string>) {
    setEnv({ NEST_LENS_EXPORTER: 'console', PORT: '0', ...variables });
    const printed = interceptPrintedSpans();
    const create = vi.spyOn(NestFactory, 'create');
    await importAnew('quickstart');
    const app = (await create.mock.results[0]!.value) as INestApplication;
    closeLater(app);
    const server = app.getHttpServer() as Server;
    if (!server.listening) await once(server, 'listening');
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const answer = await json(`${url}/orders/tea`);
    const document = await json(`${url}/lens/groups`);
    await closeApps();
    const spans = printed.lines().map((line) => JSON.parse(line) as PlainSpan);
    vi.restoreAllMocks();
    return { answer, document, spans };
  }

  it('N1, N7: makes the spans and gives the document that are shown', async () => {
    const { answer, document, spans } = await runQuickstart({
      NEST_LENS_ENABLED: 'true',
      NEST_LENS_SPAN_GROUPS: 'per_request',
    });
    const [, , shownTree] = readme.blocks('text');
    const [shownDocument] = readPage('docs/endpoint.md').blocks('json');
    const [excerpt] = readme.blocks('json');

    expect(answer).toEqual({ product: 'tea', left: 41 });
    expect(tree(spans)).toBe(shownTree);
    const shown = JSON.parse(shownDocument!);
    expect(document.telemetry.lastExportAt).toMatch(/^\d{4}-.*Z$/);
    document.telemetry.lastExportAt = shown.telemetry.lastExportAt;
    expect(document).toEqual(shown);
    expect(document).toMatchObject(JSON.parse(excerpt!));
    expect(codes()).toEqual([]);
  });

  it.each(readme.table('`NEST_LENS_SPAN_GROUPS`', 'Spans of the request'))(
    'S3, S6, I11: with %s it makes the spans of the table',
    async (spec, expected) => {
      const { answer, spans } = await runQuickstart({
        NEST_LENS_ENABLED: 'true',
        NEST_LENS_SPAN_GROUPS: quoted(spec)[0]!,
      });
      const promised = expected.startsWith('none') ? [] : quoted(expected);

      expect(answer).toEqual({ product: 'tea', left: 41 });
      expect(names(spans)).toEqual(promised);
      if (promised.length > 0) return;
      expect(codes()).toEqual(['SPEC_UNRESOLVED']);
      expect(warnings[0]!.details).toMatchObject({ nearest: { stcok: quoted(expected)[0] } });
    },
  );

  it('C2, H2: answers the same and makes no span without the variables', async () => {
    const { answer, document, spans } = await runQuickstart({});

    expect(answer).toEqual({ product: 'tea', left: 41 });
    expect(spans).toEqual([]);
    expect(document).toMatchObject({ telemetry: { enabled: false, mode: null }, enabled: [] });
  });

  const ways = [
    ['nest-lens/register', 'own', ['quickstart'], ['--import', 'nest-lens/register'], readme],
    [
      'an SDK of its own',
      'attach',
      ['tracing', 'quickstart'],
      ['--import', './tracing.js'],
      readPage('docs/http-and-database-spans.md'),
    ],
  ] as const;

  it.each(ways)(
    "H6: is one trace a request with %s first, which continues the caller's traceparent",
    async (_what, mode, snippets, nodeOptions, page) => {
      const collector = await startReceiver();
      const main = await startCompiled(snippets, nodeOptions, {
        NEST_LENS_ENABLED: 'true',
        NEST_LENS_SPAN_GROUPS: 'per_request',
        OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
        OTEL_METRICS_EXPORTER: 'none',
        OTEL_LOGS_EXPORTER: 'none',
        // What the page has its readers install.
        OTEL_NODE_ENABLED_INSTRUMENTATIONS: 'http',
      });
      const traceId = '0af7651916cd43dd8448eb211c80319c';
      try {
        await fetch(`${main.url}/orders/tea`, {
          headers: { traceparent: `00-${traceId}-b7ad6b7169203331-01` },
        });
        const document = await json(`${main.url}/lens/groups`);
        expect(document.telemetry).toMatchObject({ enabled: true, exporting: true, mode });
        expect(document.warnings).toEqual([]);
      } finally {
        await main.stop();
      }

      const spans = collector.spans.filter((span) => span.traceId === traceId);
      expect(tree(spans)).toBe(page.blocks('text').at(-1));
      expect(spans.map(({ parentSpanId }) => parentSpanId)).toContain('b7ad6b7169203331');
    },
    30_000,
  );
});
