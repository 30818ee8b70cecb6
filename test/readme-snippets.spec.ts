import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { type INestApplication, Logger, type ModuleMetadata, type Type } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import {
  type LensWarning,
  managedSpan,
  NestLensModule,
  nestLensConfigFromEnv,
  setLensLogger,
  setupTelemetry,
  SpanRegistry,
  type TelemetryHandle,
  withSpan,
} from 'nest-lens';
import { type CapturedSpan, type CapturedSpans, captureSpans } from 'nest-lens/testing';
import ts from 'typescript';
import { CELLS, NODES } from '../scripts/compat/matrix.mjs';
// The snippet on tests is a test itself: importing it adds it to this file's.
import './readme/testing.js';

// The README as it is, and the snippets in test/readme, which it quotes. Whatever it claims in a code block or a table of
// results is compared or run here.

const root = fileURLToPath(new URL('..', import.meta.url));
const readme = readFileSync(`${root}README.md`, 'utf8');
const snippetFolder = `${root}test/readme/`;

/** The code blocks of one language, in order. */
function blocks(language: string): string[] {
  return [...readme.matchAll(new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\`$`, 'gms'))].map(([, text]) =>
    dedent(text!),
  );
}

function dedent(text: string): string {
  const lines = text.replace(/\s+$/, '').split('\n');
  const indents = lines.filter((line) => line.trim() !== '').map((line) => line.search(/\S/));
  const common = Math.min(...indents);
  return lines.map((line) => line.slice(common).trimEnd()).join('\n');
}

/** The rows of the table under a header row, each a list of cells. */
function table(...header: string[]): string[][] {
  const rows = readme.split('\n').map((line) =>
    line.startsWith('|')
      ? line
          .split(/(?<!\\)\|/)
          .slice(1, -1)
          .map((cell) => cell.trim())
      : undefined,
  );
  const top = rows.findIndex((cells) => cells !== undefined && cells.join() === header.join());
  if (top === -1) throw new Error(`README.md has no table with the header ${header.join(' | ')}`);
  const body = rows.slice(top + 2);
  return body.slice(0, body.indexOf(undefined)) as string[][];
}

/** What stands in backticks in a cell. */
function quoted(cell: string): string[] {
  return [...cell.matchAll(/`([^`]+)`/g)].map(([, text]) => text!);
}

const REGION = /^[ \t]*\/\/ #region (\S+)\n(.*?)^[ \t]*\/\/ #endregion$/gms;

function regions(): Map<string, string> {
  const found = new Map<string, string>();
  for (const file of readdirSync(snippetFolder)) {
    for (const [, name, text] of readFileSync(snippetFolder + file, 'utf8').matchAll(REGION)) {
      found.set(`${file}: ${name}`, dedent(text!));
    }
  }
  return found;
}

/** Evaluates a snippet anew, as in a new process: those that act when they are imported. */
async function importAnew(snippet: string): Promise<any> {
  importAnew.count += 1;
  return import(`./readme/${snippet}.js?${importAnew.count}`);
}
importAnew.count = 0;

const apps = new Set<INestApplication>();
const handles = new Set<TelemetryHandle>();
const warnings: LensWarning[] = [];
let environment: NodeJS.ProcessEnv;

function setEnv(variables: Record<string, string>): void {
  Object.assign(process.env, variables);
}

function codes(): string[] {
  return warnings.map(({ code }) => code);
}

async function boot(module: Type<unknown>): Promise<string> {
  const app = await NestFactory.create(module, { abortOnError: false });
  apps.add(app);
  await app.listen(0, '127.0.0.1');
  return app.getUrl();
}

/** An application of the given parts, with every span of `spec` caught. */
async function bootWith(
  spec: string,
  parts: Pick<ModuleMetadata, 'imports' | 'controllers' | 'providers'>,
  groups: string[] = [],
) {
  const captured = captureSpans();
  class AppModule {}
  const lens = NestLensModule.forRoot({
    registrations: groups.length > 0 ? [{ namespace: 'app', groups }] : [],
    config: { enabled: true, spanGroups: spec, metricsEnabled: false },
    telemetry: { spanProcessors: [captured.spanProcessor] },
  });
  const app = await NestFactory.create(
    { module: AppModule, ...parts, imports: [lens, ...(parts.imports ?? [])] },
    { abortOnError: false },
  );
  apps.add(app);
  await app.listen(0, '127.0.0.1');
  return { app, url: await app.getUrl(), captured };
}

async function closeApps(): Promise<void> {
  for (const app of apps) await app.close();
  apps.clear();
}

async function setUp(spec: string) {
  const captured = captureSpans();
  const config = {
    ...nestLensConfigFromEnv({ env: {} }),
    enabled: true,
    spanGroups: spec,
    metricsEnabled: false,
  };
  const handle = await setupTelemetry(config, { spanProcessors: [captured.spanProcessor] });
  handles.add(handle);
  return captured;
}

async function json(url: string, request?: RequestInit): Promise<any> {
  const response = await fetch(url, request);
  return response.json();
}

interface PlainSpan {
  name: string;
  spanId: string;
  parentSpanId?: string | null;
  traceId: string;
}

/** The spans so far: the SDK hands a span on as late as its resource is known, a moment after a set-up. */
async function spansOf({ spanProcessor, spans }: CapturedSpans): Promise<CapturedSpan[]> {
  await spanProcessor.forceFlush();
  return spans();
}

function plain(span: CapturedSpan): PlainSpan {
  const { spanId, traceId } = span.spanContext();
  return { name: span.name, spanId, traceId, parentSpanId: span.parentSpanContext?.spanId ?? null };
}

/** Names as an indented tree, as the README shows them. */
function tree(spans: readonly PlainSpan[]): string {
  const ids = new Set(spans.map(({ spanId }) => spanId));
  const below = (parent: string | undefined, indent: string): string[] =>
    spans
      .filter(({ parentSpanId }) =>
        parent === undefined ? !ids.has(parentSpanId ?? '') : parentSpanId === parent,
      )
      .flatMap(({ name, spanId }) => [indent + name, ...below(spanId, `${indent}  `)]);
  return below(undefined, '').join('\n');
}

function names(spans: readonly { name: string }[]): string[] {
  return spans.map(({ name }) => name).sort();
}

describe('the README', () => {
  beforeEach(() => {
    environment = { ...process.env };
    warnings.length = 0;
    setLensLogger({ warn: (_message, warning) => void warnings.push(warning) });
    Logger.overrideLogger(false);
  });

  afterEach(async () => {
    await closeApps();
    for (const handle of handles) await handle.shutdown(1_000);
    handles.clear();
    for (const name of Object.keys(process.env)) if (!(name in environment)) delete process.env[name];
    Object.assign(process.env, environment);
    jest.restoreAllMocks();
  });

  describe('as a text', () => {
    it('has a region of test/readme for each of its ts blocks, word for word', () => {
      const texts = [...regions().values()];
      expect(blocks('ts').length).toBeGreaterThan(10);
      expect(blocks('ts').filter((block) => !texts.includes(block))).toEqual([]);
    });

    it('shows every region of test/readme', () => {
      const shown = blocks('ts');
      const hidden = [...regions()].filter(([, text]) => !shown.includes(text));
      expect(hidden.map(([name]) => name)).toEqual([]);
    });

    it('leads to headings and files that are there', () => {
      const headings = [...readme.matchAll(/^#+ (.+)$/gm)].map(([, heading]) =>
        heading!
          .toLowerCase()
          .replace(/[^a-z0-9 _-]/g, '')
          .replaceAll(' ', '-'),
      );
      const targets = [...readme.matchAll(/\]\(([^)]+)\)/g)].map(([, target]) => target!);
      const dead = targets.filter((target) =>
        target.startsWith('#') ? !headings.includes(target.slice(1)) : !existsSync(root + target),
      );
      expect(targets.length).toBeGreaterThan(15);
      expect(dead).toEqual([]);
    });

    it('explains every warning that NestLens can give, and no other', () => {
      const source = readFileSync(`${root}src/core/diagnostics/warning-messages.ts`, 'utf8');
      const [, body] = /^interface WarningDetails \{\n(.*?)^\}/ms.exec(source)!;
      const known = [...body!.matchAll(/^ {2}([A-Z_]+):/gm)].map(([, code]) => code!);
      const explained = table('Code', 'It means', 'What to do').flatMap(([code]) => quoted(code!));
      expect(known.length).toBeGreaterThan(15);
      expect(explained).toEqual(known);
    });

    it('names every option of forRoot', () => {
      const source = readFileSync(`${root}src/nest/nest-lens-options.ts`, 'utf8');
      const optionsOf = (name: string): string[] => {
        const [, body] = new RegExp(`^export interface ${name} \\{\\n(.*?)^\\}`, 'ms').exec(source)!;
        return [...body!.matchAll(/^ {2}(\w+)\?:/gm)].map(([, option]) => option!);
      };
      const expected = [
        ...optionsOf('NestLensModuleOptions'),
        ...optionsOf('IntrospectionOptions').map((option) => `introspection.${option}`),
      ];
      const shown = table('Option', 'Type', 'Default', 'Meaning').flatMap(([option]) => quoted(option!));
      expect(shown).toEqual(expected);
    });

    it('C2: names every variable, its key, and its default', () => {
      const defaults = nestLensConfigFromEnv({ env: {} });
      const rows = table('Variable', 'Key of `config`', 'Values', 'Default');
      const source = readFileSync(`${root}src/core/telemetry/config-from-env.ts`, 'utf8');
      const read = [...source.matchAll(/\bread\('(\w+)'\)/g)].map(([, key]) => `NEST_LENS_${key}`);

      expect(rows.flatMap(([variable]) => quoted(variable!)).sort()).toEqual([...new Set(read)].sort());
      const keys = rows.map(([, key]) => quoted(key!)[0]!);
      const { origins: _, ...options } = defaults;
      expect([...Object.keys(options), 'serviceName'].sort()).toEqual([...keys].sort());
      for (const [, key, , shown] of rows) {
        const [literal] = quoted(shown!);
        if (literal !== undefined)
          expect([key, literal]).toEqual([key, String((options as any)[quoted(key!)[0]!])]);
      }
    });

    it('says which versions npm run compat tests, no more and no less', () => {
      const rows = new Map(
        table('', 'Supported', 'Tested with').map(([what, , tested]) => [quoted(what!)[0] ?? what, tested!]),
      );
      const installed = CELLS.map(({ consumer, dependencies }) => {
        const manifest = readFileSync(`${root}compat/consumers/${consumer}/package.json`, 'utf8');
        const own = (JSON.parse(manifest) as { dependencies: Record<string, string> }).dependencies;
        return { ...own, ...dependencies };
      });
      const versionsOf = (name: string): string[] => installed.flatMap((packages) => packages[name] ?? []);
      const tested: Record<string, string[]> = {
        Node: CELLS.map(({ node }) => NODES[node]),
        NestJS: versionsOf('@nestjs/core'),
        '@opentelemetry/sdk-node': versionsOf('@opentelemetry/sdk-node'),
        '@opentelemetry/api': versionsOf('@opentelemetry/api'),
        rxjs: versionsOf('rxjs'),
        'reflect-metadata': versionsOf('reflect-metadata'),
      };
      for (const [what, versions] of Object.entries(tested)) {
        const shown = rows.get(what)!.split(', ');
        const isShown = (version: string): boolean =>
          shown.some((each) => `${version}.`.startsWith(`${each}.`));
        expect([what, versions.filter((version) => !isShown(version))]).toEqual([what, []]);
        const isTested = (each: string): boolean =>
          versions.some((version) => `${version}.`.startsWith(`${each}.`));
        expect([what, shown.filter((each) => !isTested(each))]).toEqual([what, []]);
      }
    });
  });

  describe('on the spec', () => {
    beforeEach(() => {
      SpanRegistry.register('shop', ['orders', 'stock'], {
        default: ['orders'],
        per_request: ['orders', 'stock'],
      });
      SpanRegistry.register('db', ['db_query', 'db_transaction'], { per_request: ['db_transaction'] });
    });

    const rows = table('Spec', 'On', 'Pending');

    it.each(rows)('S1, S3, S5, S6: %s turns on what the table says', (spec, on, pending) => {
      const { enabled, pending: unknown } = SpanRegistry.resolve(quoted(spec)[0]!);
      expect([...enabled].sort()).toEqual(quoted(on));
      expect([...unknown].sort()).toEqual(quoted(pending));
    });
  });

  describe('on the quickstart', () => {
    /** The quickstart with these variables: one request, the document, and the spans that it printed. */
    async function runQuickstart(variables: Record<string, string>) {
      setEnv({ NEST_LENS_EXPORTER: 'console', PORT: '0', ...variables });
      const printed = jest.spyOn(console, 'log').mockImplementation(() => undefined);
      const create = jest.spyOn(NestFactory, 'create');
      await importAnew('quickstart');
      const app = (await create.mock.results[0]!.value) as INestApplication;
      apps.add(app);
      const server = app.getHttpServer() as Server;
      if (!server.listening) await once(server, 'listening');
      const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
      const answer = await json(`${url}/orders/tea`);
      const document = await json(`${url}/lens/groups`);
      await closeApps();
      const spans = printed.mock.calls.map(([line]) => JSON.parse(String(line)) as PlainSpan);
      jest.restoreAllMocks();
      return { answer, document, spans };
    }

    it('N1, N7: makes the spans and gives the document that are shown', async () => {
      const { answer, document, spans } = await runQuickstart({
        NEST_LENS_ENABLED: 'true',
        NEST_LENS_SPAN_GROUPS: 'per_request',
      });
      const [shownTree] = blocks('text');
      const [shownDocument] = blocks('json');

      expect(answer).toEqual({ product: 'tea', left: 41 });
      expect(tree(spans)).toBe(shownTree);
      expect(document).toEqual(JSON.parse(shownDocument!));
      expect(codes()).toEqual([]);
    });

    it.each(table('`NEST_LENS_SPAN_GROUPS`', 'Spans of the request'))(
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

    it('H6: is one trace a request with the SDK started first, which continues the traceparent of the caller', async () => {
      const collector = await startCollector();
      const main = await startCompiled(['tracing', 'quickstart'], {
        NEST_LENS_ENABLED: 'true',
        NEST_LENS_SPAN_GROUPS: 'per_request',
        OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
        OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
        OTEL_METRICS_EXPORTER: 'none',
        OTEL_LOGS_EXPORTER: 'none',
      });
      const traceId = '0af7651916cd43dd8448eb211c80319c';
      try {
        await fetch(`${main.url}/orders/tea`, {
          headers: { traceparent: `00-${traceId}-b7ad6b7169203331-01` },
        });
        const document = await json(`${main.url}/lens/groups`);
        expect(document.telemetry).toEqual({ enabled: true, exporting: true, mode: 'attach' });
        expect(document.warnings).toEqual([]);
      } finally {
        await main.stop();
        await collector.stop();
      }

      const spans = collector.spans.filter((span) => span.traceId === traceId);
      expect(tree(spans)).toBe(blocks('text')[1]);
      expect(spans.map(({ parentSpanId }) => parentSpanId)).toContain('b7ad6b7169203331');
    }, 30_000);
  });

  describe('on the primitives', () => {
    const order = { id: '7', lines: [{ price: 3, quantity: 2 }] };

    it('I1, I4, I5, I7: the sites make their spans while their groups are on', async () => {
      const { charge, nightlyReport, refund } = await import('./readme/sites.js');
      SpanRegistry.register('shop', ['payment', 'pricing']);
      const captured = await setUp('payment,pricing');

      expect(await charge(order, { token: 'tok_1' })).toEqual({ paid: 6 });
      expect(tree((await spansOf(captured)).map(plain))).toBe('payment.charge\n  pricing.total');
      expect(captured.named('payment.charge')[0]!.attributes).toEqual({
        'nestlens.group': 'payment',
        'order.id': '7',
        'card.token': '[REDACTED]',
      });
      expect(captured.named('pricing.total')[0]!.attributes).toEqual({
        'nestlens.group': 'pricing',
        'pricing.currency': 'EUR',
      });

      captured.clear();
      expect(nightlyReport([order])).toEqual([6]);
      expect(tree((await spansOf(captured)).map(plain))).toBe('nightly-report\n  pricing.total');

      withSpan('request', () => refund(order));
      await spansOf(captured);
      expect(captured.named('request')[0]!.events.map(({ name }) => name)).toEqual(['payment.refunded']);
    });

    it('I1, I3: off, they make none and compute nothing; the ungated span is made', async () => {
      const { charge, nightlyReport, refund } = await import('./readme/sites.js');
      SpanRegistry.register('shop', ['payment', 'pricing', 'other']);
      const captured = await setUp('other');

      expect(await charge(order, { token: 'tok_1' })).toEqual({ paid: 6 });
      expect(await spansOf(captured)).toEqual([]);
      expect(nightlyReport([order])).toEqual([6]);
      expect(names(await spansOf(captured))).toEqual(['nightly-report']);

      const stringify = jest.spyOn(JSON, 'stringify');
      withSpan('request', () => refund(order));
      expect(stringify).not.toHaveBeenCalled();
      await spansOf(captured);
      expect(captured.named('request')[0]!.events).toEqual([]);
    });

    it('N4: the decorator covers the controller and the method, but for the one that is taken out', async () => {
      const { OrderJobs, OrdersController } = await import('./readme/span-group-decorator.js');
      const { app, url, captured } = await bootWith(
        'all',
        { controllers: [OrdersController], providers: [OrderJobs] },
        ['orders', 'order_read', 'order_jobs'],
      );
      for (const path of ['/orders', '/orders/health', '/orders/7']) await fetch(url + path);
      await app.get(OrderJobs).cleanUp();

      expect(names(await spansOf(captured))).toEqual([
        'OrderJobs.cleanUp',
        'OrdersController.list',
        'orders.read',
      ]);
      expect(captured.named('orders.read')[0]!.attributes).toMatchObject({
        'nestlens.group': 'order_read',
        'order.id': '7',
        'nestjs.type': 'http',
      });
      expect(codes()).toEqual([]);
    });

    it('N6, I12: the interceptor takes in the pipe, and continues the traceparent of the caller', async () => {
      const { ReportsController } = await import('./readme/span-group-interceptor.js');
      const { url, captured } = await bootWith('reports', { controllers: [ReportsController] }, ['reports']);
      const traceId = '0af7651916cd43dd8448eb211c80319c';
      await fetch(`${url}/reports/2026`, {
        headers: { traceparent: `00-${traceId}-b7ad6b7169203331-01` },
      });
      expect((await fetch(`${url}/reports/last`)).status).toBe(400);

      const spans = await spansOf(captured);
      const [answered, refused] = spans;
      expect(spans).toHaveLength(2);
      expect(plain(answered!)).toMatchObject({ traceId, parentSpanId: 'b7ad6b7169203331' });
      expect(refused!.events.map(({ name }) => name)).toEqual(['exception']);
      expect(refused!.status.code).toBe(0);
    });

    it('N6: the decorator alone leaves the pipe out, and looks at no header', async () => {
      const { OrdersController } = await import('./readme/span-group-decorator.js');
      const { url, captured } = await bootWith('orders', { controllers: [OrdersController] }, [
        'orders',
        'order_read',
      ]);
      await fetch(`${url}/orders`, {
        headers: { traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01' },
      });

      expect((await spansOf(captured)).map(plain)).toEqual([
        expect.objectContaining({ name: 'OrdersController.list', parentSpanId: null }),
      ]);
    });

    it('I8: a message carries the trace from its sender to its handler', async () => {
      const { handle, toMessage } = await import('./readme/propagation.js');
      SpanRegistry.register('app', ['jobs']);
      const captured = await setUp('jobs');
      const message = withSpan('sender', () => toMessage('paint the fence'));

      expect(message.headers.traceparent).toMatch(/^00-/);
      expect(await handle(message)).toBe('done: paint the fence');
      expect(tree((await spansOf(captured)).map(plain))).toBe('sender\n  jobs.handle');
    });
  });

  describe('on registering', () => {
    it('N1: forFeature and a provider register in time for the spec, and unite their presets', async () => {
      const { CacheModule } = await import('./readme/feature-module.js');
      const { TenantSpans } = await import('./readme/registering-provider.js');
      const { url } = await bootWith('per_request', { imports: [CacheModule], providers: [TenantSpans] });
      const document = await json(`${url}/lens/groups`);

      expect(document.namespaces).toEqual(['cache', 'tenants']);
      expect(document.enabled).toEqual(['cache_write', 'tenant_lookup']);
      expect(codes()).toEqual([]);
    });

    it('W5: a library that registers at import is in time, and its span is made', async () => {
      const { sendMail } = await importAnew('library');
      const { captured } = await bootWith('default', {});

      expect(await sendMail('ann@example.com')).toBe('sent to ann@example.com');
      expect(names(await spansOf(captured))).toEqual(['mail.send']);
      expect(codes()).toEqual([]);
    });

    it('F1: the optional import finds the real thing', async () => {
      await importAnew('optional-lens');

      expect(SpanRegistry.namespaces()).toEqual(['acme_mail']);
    });

    it('F2, F3: the optional import falls back where the API of OpenTelemetry is missing', async () => {
      jest.unstable_mockModule('nest-lens/core', () => {
        throw new Error("Cannot find package '@opentelemetry/api'");
      });
      const lens = await importAnew('optional-lens');
      jest.unstable_unmockModule('nest-lens/core');

      expect(lens.managedSpan('mail_send', 'mail.send', (span: unknown) => [span])).toEqual([undefined]);
      expect([...lens.SpanRegistry.groups()]).toEqual([]);
      expect(SpanRegistry.namespaces()).toEqual([]);
    });
  });

  describe('on options', () => {
    it('C5, H7: forRoot as shown: its exporter gets the span, and the route has moved', async () => {
      setEnv({ NEST_LENS_ENABLED: 'true', NEST_LENS_SPAN_GROUPS: 'stock' });
      const printed = jest.spyOn(console, 'dir').mockImplementation(() => undefined);
      const { AppModule } = await import('./readme/for-root.js');
      const url = await boot(AppModule);
      managedSpan('stock', 'stock.take', () => undefined);

      expect((await fetch(`${url}/internal/groups`)).status).toBe(200);
      expect((await fetch(`${url}/lens/groups`)).status).toBe(404);
      await closeApps();
      const spans = printed.mock.calls.map(([span]) => span);
      expect(names(spans)).toEqual(['stock.take']);
      expect(spans[0].resource.attributes['service.name']).toBe('shop');
    });

    it('C5: forRootAsync as shown: the injected settings decide, the guard guards', async () => {
      setEnv({ NEST_LENS_EXPORTER: 'none', NEST_LENS_METRICS_ENABLED: 'no', OPERATOR_TOKEN: 'let-me-in' });
      const { AppModule } = await import('./readme/for-root-async.js');
      const url = await boot(AppModule);

      expect((await fetch(`${url}/lens/groups`)).status).toBe(403);
      const document = await json(`${url}/lens/groups`, { headers: { authorization: 'Bearer let-me-in' } });
      expect(document.enabled).toEqual(['stock']);
      expect(document.spec).toMatchObject({ configured: 'per_request,-orders', source: 'options' });
    });
  });

  describe('on the endpoint', () => {
    const silent = { NEST_LENS_ENABLED: 'true', NEST_LENS_EXPORTER: 'none', NEST_LENS_METRICS_ENABLED: 'no' };

    it('N7: the guard as shown lets nobody in without a token that was set', async () => {
      setEnv(silent);
      const { AppModule } = await import('./readme/runtime-control.js');
      const url = `${await boot(AppModule)}/lens/groups`;
      const statusWith = async (authorization: string) =>
        (await fetch(url, { headers: { authorization } })).status;

      expect(await statusWith('Bearer undefined')).toBe(403);
      setEnv({ OPERATOR_TOKEN: 'let-me-in' });
      expect(await statusWith('Bearer let-me-out')).toBe(403);
      expect(await statusWith('Bearer let-me-in')).toBe(200);
    });

    it('T7: the commands as shown put an override over the spec and take it away', async () => {
      setEnv({ ...silent, OPERATOR_TOKEN: 'let-me-in' });
      const { AppModule } = await import('./readme/runtime-control.js');
      const url = await boot(AppModule);
      const commands = blocks('sh')
        .flatMap((block) => block.replaceAll('\\\n', ' ').split('\n'))
        .filter((line) => line.startsWith('curl -X'));
      const documents: any[] = [];
      for (const command of commands) {
        const headers = [...command.matchAll(/-H (["'])(.*?)\1/g)].map(([, , header]) =>
          header!.replace('$OPERATOR_TOKEN', 'let-me-in').split(': '),
        );
        const [, method, path] = /^curl -X (\w+) localhost:3000(\S+)/.exec(command)!;
        const body = /-d '(.*)'/.exec(command)?.[1];
        documents.push(
          await json(url + path, { method, body, headers: Object.fromEntries(headers) as never }),
        );
      }

      expect(commands).toHaveLength(2);
      const [put, deleted] = documents;
      expect(put.enabled).toEqual(['orders', 'stock']);
      expect(put.spec).toMatchObject({ configured: 'default', active: 'per_request' });
      const endsIn = Date.parse(put.spec.override.expiresAt) - Date.now();
      expect(endsIn).toBeGreaterThan(890_000);
      expect(endsIn).toBeLessThanOrEqual(900_000);
      expect(deleted.enabled).toEqual(['orders']);
      expect(deleted.spec.override).toBeNull();
    });
  });

  describe('on set-up without Nest', () => {
    it('H1, H2: the work runs in a span when telemetry is enabled, and without one when it is not', async () => {
      const printed = jest.spyOn(console, 'log').mockImplementation(() => undefined);
      const { run } = await importAnew('without-nest');
      const work = jest.fn(async () => undefined);
      setEnv({ NEST_LENS_EXPORTER: 'console' });
      await run(work);
      expect(printed.mock.calls).toEqual([]);

      setEnv({ NEST_LENS_ENABLED: 'true' });
      await run(work);
      expect(names(printed.mock.calls.map(([line]) => JSON.parse(String(line)) as PlainSpan))).toEqual([
        'job.run',
      ]);
      expect(work).toHaveBeenCalledTimes(2);
      expect(codes()).toEqual([]);
    });
  });

  describe('on warnings', () => {
    it('W3: the logger as shown gets them', async () => {
      const printed = jest.spyOn(console, 'log').mockImplementation(() => undefined);
      await importAnew('lens-logger');
      SpanRegistry.register('shop', ['orders']);
      await setUp('ordres');

      expect(printed.mock.calls.map(([line]) => JSON.parse(String(line)) as object)).toEqual([
        { level: 'warn', code: 'SPEC_UNRESOLVED', message: expect.stringContaining("'orders'") },
      ]);
    });
  });
});

/** An OTLP collector that keeps the spans that it is sent. */
async function startCollector() {
  const spans: PlainSpan[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const { resourceSpans = [] } = JSON.parse(Buffer.concat(chunks).toString()) as {
        resourceSpans?: any[];
      };
      spans.push(
        ...resourceSpans.flatMap(({ scopeSpans }) =>
          scopeSpans.flatMap((scope: { spans: PlainSpan[] }) => scope.spans),
        ),
      );
      response.setHeader('content-type', 'application/json').end('{}');
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    spans,
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    stop: async () => {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}

/** Compiles two snippets and runs them in a process of their own, the first one by `--import`, as the README says. */
async function startCompiled([first, main]: [string, string], variables: Record<string, string>) {
  mkdirSync(`${root}temp`, { recursive: true });
  const folder = mkdtempSync(`${root}temp/readme-`);
  for (const snippet of [first, main]) {
    const { outputText } = ts.transpileModule(readFileSync(`${snippetFolder}${snippet}.ts`, 'utf8'), {
      compilerOptions: {
        target: ts.ScriptTarget.ES2022,
        module: ts.ModuleKind.ESNext,
        experimentalDecorators: true,
        emitDecoratorMetadata: true,
      },
    });
    writeFileSync(`${folder}/${snippet}.js`, outputText);
  }
  const port = await freePort();
  const child = spawn(process.execPath, ['--import', `./${first}.js`, `${main}.js`], {
    cwd: folder,
    env: { ...process.env, ...variables, PORT: String(port), NODE_OPTIONS: '', NO_COLOR: '1' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  const started = new Promise<void>((resolve, reject) => {
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (chunk: Buffer) => {
        output += chunk.toString();
        if (output.includes('successfully started')) resolve();
      });
    }
    child.once('exit', (code) => reject(new Error(`it ended with ${code}: ${output}`)));
  });
  const stop = async (): Promise<void> => {
    if (child.exitCode === null && child.kill('SIGTERM')) await once(child, 'exit');
    rmSync(folder, { recursive: true, force: true });
  };
  const url = `http://127.0.0.1:${port}`;
  try {
    await started;
    while (!(await fetch(url).catch(() => undefined)))
      await new Promise((resolve) => setTimeout(resolve, 20));
  } catch (reason) {
    await stop();
    throw reason;
  }
  return { url, stop };
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}
