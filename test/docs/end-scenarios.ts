import http from 'node:http';
import { text } from 'node:stream/consumers';
import { expect, vi } from 'vitest';
import type { INestApplication } from '@nestjs/common';
import { NestApplicationContext } from '@nestjs/core';
import { type Span, trace } from '@opentelemetry/api';
import { managedSpan, SpanRegistry } from 'nest-lens';
import { captureWarnings } from '../support/capture-warnings.js';
import { KeepingExporter } from '../support/keeping-exporter.js';
import { until } from '../support/lens-app.js';
import { setUpForTest } from '../support/live-telemetry.js';
import { once } from '../support/once.js';
import { type Misbehaviour, startReceiver } from '../support/otlp-receiver.js';
import { startShop } from '../support/shop-process.js';
import { type ShopWithFile, shopWithFile } from '../support/shop-with-file.js';
import { type Scenario, scenario } from './scenario.js';
import { ask, startApp } from './scenario-app.js';
import { setEnvironment } from './scenario-environment.js';
import { type Exit, onceTwoSecondsOld, serve, serveAndHang } from './scenario-processes.js';

const HOOKS = ['onModuleDestroy', 'beforeApplicationShutdown', 'onApplicationShutdown'] as const;
/** A span that waited for its export, and those of the hooks; then the exporter was shut down. */
const EVERYTHING = ['OrdersController.list', ...HOOKS, '(shutdown)'];
const OPEN = 'OrdersController.hang';
const UNDER_WAY = 'OrdersController.held';
/** The same, with a span that was open. */
const EVERYTHING_AND_OPEN = [...EVERYTHING.slice(0, -1), OPEN, '(shutdown)'];
const SIGTERM: Exit = { code: null, signal: 'SIGTERM' };

const LIMIT_MS = 100;
/** What a busy machine may add; without the limit a close would take 6 s. */
const SLACK_MS = 4_000;

const CUT_OFF = 'cut off';

/** Asks on a connection that isn't kept alive, so that a server that closes needn't wait for it. */
function askOnce(url: string): Promise<string> {
  return new Promise((resolve) => {
    http
      .get(url, { agent: false }, (response) => void text(response).then(resolve, () => resolve(CUT_OFF)))
      .on('error', () => resolve(CUT_OFF));
  });
}

/** Has a request make the process do something. */
async function end(shop: ShopWithFile, path: string): Promise<Exit> {
  await shop.process.get(path);
  return shop.process.exited;
}

/** Asks for what is under way until the server closes, and resolves to the answer that is to come. */
async function hold({ process }: ShopWithFile): Promise<{ answer: Promise<string> }> {
  const answer = askOnce(`${await process.url()}/held`);
  await process.says(/HELD/);
  return { answer };
}

/**
 * Two requests are under way, one of which never ends, when SIGTERM comes; the application closes up to the point at which it
 * waits for its server, and answers the other one. SIGTERM comes again, then the client goes.
 */
const onceWaiting = once(async () => {
  const shop = await serveAndHang({ keepAlive: true });
  const { answer } = await hold(shop);
  const url = await shop.process.url();
  shop.process.child.kill('SIGTERM');
  for (let asked = 0; (await askOnce(`${url}/seen`)) !== CUT_OFF; asked++) expect(asked).toBeLessThan(5_000);
  const answered = await answer;
  isUnderWay(shop);
  shop.process.child.kill('SIGTERM');
  await new Promise((resolve) => setImmediate(resolve));
  isUnderWay(shop);
  shop.abort();
  const exit = await shop.process.exited;
  return { answered, exit, names: shop.names(), written: shop.written() };
});

/** The same two requests when SIGTERM comes once, and connections are closed by force. */
const onceForced = once(async () => {
  const shop = await serveAndHang();
  const { answer } = await hold(shop);
  const exit = await shop.process.kill('SIGTERM');
  return { answered: await answer, exit, names: shop.names(), written: shop.written() };
});

/** Whether the one request was done before the other one was given up depends on neither. */
const withoutUnderWay = (names: readonly string[]): string[] => names.filter((name) => name !== UNDER_WAY);

function isUnderWay({ process, names }: ShopWithFile): void {
  expect([process.child.exitCode, process.child.signalCode]).toEqual([null, null]);
  expect(names()).not.toContain('(shutdown)');
}

/** Work that goes on until it is told to stop. */
function openSpan(name: string): Span {
  let span!: Span;
  void managedSpan('orders', name, (given) => {
    span = given!;
    return new Promise(() => undefined);
  });
  return span;
}

/**
 * Nest 11 gives a close up where a hook of anybody throws; the one that is installed says so and goes on. An application
 * keeps others from changing its methods, so those of all are changed.
 *
 * @returns takes it back
 */
function closeAsNest11(): () => void {
  const phases = ['callDestroyHook', 'callBeforeShutdownHook', 'callShutdownHook'] as const;
  const prototype = NestApplicationContext.prototype as unknown as Record<
    (typeof phases)[number],
    () => Promise<void>
  >;
  const changed = phases.map((phase, at) =>
    vi.spyOn(prototype, phase).mockImplementation(async function (this: any) {
      for (const module of [...this.getModulesToTriggerHooksOn()].reverse()) {
        for (const { instance } of module.providers.values()) await instance?.[HOOKS[at]!]?.();
      }
    }),
  );
  return () => changed.forEach((method) => method.mockRestore());
}

/** Closes an application in which a hook throws; each hook has made a span before. */
async function closeWithThrowIn(
  throwIn: string,
  isNest11: boolean,
): Promise<{ names: string[]; failed: boolean; later: string[] }> {
  setEnvironment({ OTEL_BSP_SCHEDULE_DELAY: '200' });
  captureWarnings();
  const exporter = new KeepingExporter();
  const run = (hook: string) => async () => {
    managedSpan('orders', hook, () => undefined);
    if (hook === throwIn) throw new Error(`thrown in ${hook}`);
  };
  const hooks = Object.fromEntries(HOOKS.map((hook) => [hook, run(hook)]));
  const app = await startApp({
    lens: { telemetry: { spanExporter: exporter } },
    providers: [{ provide: 'hooks', useValue: hooks }],
  });
  managedSpan('orders', 'waits', () => undefined);
  const restore = isNest11 ? closeAsNest11() : () => undefined;
  const failed = await app.close().then(
    () => false,
    () => true,
  );
  restore();
  const names = [...exporter.names];
  if (failed) await until(() => exporter.names.length > 0);
  const later = [...exporter.names];
  // Nest 11 has left the rest where it is; nothing of it is meant for the next application.
  for (const hook of HOOKS) hooks[hook] = async () => undefined;
  await app.close();
  return { names, failed, later };
}

/** When -> what happens, for an application that ends. */
export const endScenarios: Readonly<Record<string, Scenario>> = {
  '`app.close()` is called': scenario(
    'H9',
    async () => {
      const shop = await serve();
      return { shop, exit: await end(shop, '/close') };
    },
    {
      'The spans that wait are exported,': ({ shop }) =>
        expect(shop.names()[0]).toBe('OrdersController.list'),
      'those of shutdown hooks too;': ({ shop }) =>
        expect(shop.names()).toEqual(expect.arrayContaining([...HOOKS])),
      'then the SDK is shut down.': ({ shop, exit }) => {
        expect(shop.names()).toEqual(EVERYTHING);
        expect(exit).toEqual({ code: 0, signal: null });
        expect(shop.process.warnings()).toEqual([]);
      },
    },
  ),

  'SIGTERM or SIGINT comes, with `enableShutdownHooks()`': scenario(
    'H9',
    async () => {
      const shop = await serve();
      const exit = await shop.process.kill('SIGINT');
      return { interrupted: { exit, names: shop.names() }, terminated: await onceForced() };
    },
    {
      'The same;': ({ interrupted, terminated }) => {
        expect(interrupted.names).toEqual(EVERYTHING);
        // Requests that were under way have spans besides.
        expect(withoutUnderWay(terminated.names).filter((name) => name !== OPEN)).toEqual(EVERYTHING);
      },
      'then the process ends by that signal.': ({ interrupted, terminated }) => {
        expect(interrupted.exit).toEqual({ code: null, signal: 'SIGINT' });
        expect(terminated.exit).toEqual(SIGTERM);
      },
    },
  ),

  'SIGTERM comes, without it': scenario('H9', async () => (await onceTwoSecondsOld()).withoutHooks, {
    'The process ends at once:': ({ exit }) => expect(exit).toEqual(SIGTERM),
    'waiting and open spans are lost.': ({ names }) => expect(names).toEqual([]),
  }),

  'SIGKILL comes': scenario(
    'H9',
    async () => {
      const shop = await serveAndHang();
      return { shop, exit: await shop.process.kill('SIGKILL') };
    },
    {
      'The same: nothing can listen to it.': ({ shop, exit }) => {
        expect(exit).toEqual({ code: null, signal: 'SIGKILL' });
        expect(shop.names()).toEqual([]);
      },
    },
  ),

  'a signal comes again while the application closes': scenario('H9', onceWaiting, {
    'Nest ignores it, and closes once.': ({ exit, names }) => {
      expect(exit).toEqual(SIGTERM);
      expect([...names].sort()).toEqual([...EVERYTHING_AND_OPEN, UNDER_WAY].sort());
    },
  }),

  'the process has nothing left to do': scenario(
    'H9',
    async () => {
      const shop = shopWithFile({ drain: 'open' });
      return { shop, exit: await shop.process.exited };
    },
    {
      'Waiting spans are exported, and open ones with them,': ({ shop }) => {
        expect(shop.names()).toEqual(['only work', 'open', '(shutdown)']);
        expect(shop.process.warnings()).toEqual([]);
      },
      // Its hooks would have made spans.
      'although nobody closes the application.': ({ shop, exit }) => {
        expect(exit).toEqual({ code: 0, signal: null });
        expect(shop.names()).not.toContain('onModuleDestroy');
      },
    },
  ),

  '`process.exit()` is called': scenario(
    'H9',
    async () => {
      const [shop, closed] = await Promise.all([serveAndHang(), serveAndHang()]);
      await Promise.all([end(shop, '/exit'), end(closed, '/close-then-exit')]);
      return { shop, closed };
    },
    {
      'Waiting and open spans are lost.': ({ shop }) => expect(shop.names()).toEqual([]),
      'Close the application first.': ({ closed }) => expect(closed.names()).toEqual(EVERYTHING_AND_OPEN),
    },
  ),

  '`process.exit()` comes before `app.close()` is done': scenario(
    'H9',
    async () => {
      const shop = await serve();
      return { shop, exit: await end(shop, '/close-and-exit') };
    },
    {
      "Spans that aren't exported by then are lost: wait for `app.close()`.": ({ shop, exit }) => {
        expect(exit).toEqual({ code: 0, signal: null });
        expect(shop.names()).toEqual([]);
      },
    },
  ),

  "an exception isn't caught, or a rejection not handled": scenario(
    'H9',
    async () => {
      const lost = await Promise.all([serveAndHang(), serveAndHang()]);
      const exits = await Promise.all([end(lost[0], '/throw'), end(lost[1], '/reject')]);
      const saved = await Promise.all([
        serveAndHang({ closeOnCrash: true }),
        serveAndHang({ closeOnCrash: true }),
      ]);
      exits.push(...(await Promise.all([end(saved[0], '/throw'), end(saved[1], '/reject')])));
      return { lost, saved, exits };
    },
    {
      'Node ends the process: waiting and open spans are lost.': ({ lost, exits }) => {
        expect(exits).toEqual(Array(4).fill({ code: 1, signal: null }));
        for (const shop of lost) expect(shop.names()).toEqual([]);
      },
      "`process.once('uncaughtException', (error) => { console.error(error); void app.close().finally(() => process.exit(1)); })` saves them,":
        ({ saved }) => {
          for (const shop of saved) expect(shop.names()).toEqual(EVERYTHING_AND_OPEN);
        },
      "and prints the error, which Node doesn't do if there is a listener.": ({ saved }) => {
        const stack = (message: string) => new RegExp(`Error: ${message}\\n +at `);
        expect(saved[0].process.output).toMatch(stack('thrown and not caught'));
        expect(saved[1].process.output).toMatch(stack('rejected and not handled'));
      },
    },
  ),

  'a request is under way': scenario(
    'H9, I9',
    async () => ({ waiting: await onceWaiting(), forced: await onceForced() }),
    {
      'It is answered,': ({ waiting }) => expect(waiting.answered).toBe('answered'),
      'and its span is complete: telemetry ends after the server.': ({ waiting }) => {
        expect(waiting.exit).toEqual(SIGTERM);
        expect([...waiting.names].sort()).toEqual([UNDER_WAY, ...EVERYTHING_AND_OPEN].sort());
        const truncated = waiting.written.filter(({ attributes }) => attributes?.['nestlens.truncated']);
        expect(truncated.map(({ name }) => name)).toEqual([OPEN]);
      },
      'With `forceCloseConnections: true` it is cut off.': ({ forced }) =>
        expect(forced.answered).toBe(CUT_OFF),
    },
  ),

  'a request never ends': scenario(
    'H9, H10',
    async () => ({ waiting: await onceWaiting(), forced: await onceForced() }),
    {
      "Nest's own `close` waits for it, and telemetry with it.": ({ waiting }) => {
        expect(waiting.exit).toEqual(SIGTERM);
        expect(withoutUnderWay(waiting.names)).toEqual(EVERYTHING_AND_OPEN);
      },
      '`NestFactory.create(AppModule, { forceCloseConnections: true })` ends it,': ({ forced }) =>
        expect(forced.exit).toEqual(SIGTERM),
      'and its span counts as still open.': ({ forced }) => {
        expect(withoutUnderWay(forced.names)).toEqual(EVERYTHING_AND_OPEN);
        const open = forced.written.find(({ name }) => name === OPEN);
        expect(open?.attributes['nestlens.truncated']).toBe(true);
      },
    },
  ),

  'a span is still open': scenario(
    'H10',
    async () => {
      setEnvironment();
      const warnings = captureWarnings();
      const exporter = new KeepingExporter();
      const app = await startApp({ lens: { telemetry: { spanExporter: exporter } } });
      openSpan('older');
      trace.getTracer('by hand').startSpan('newer');
      managedSpan('orders', 'done', () => undefined);
      await app.close();
      expect(warnings.codes()).toEqual([]);
      return exporter;
    },
    {
      'NestLens ends it, newest first,': ({ names, spans }) => {
        expect(names).toEqual(['done', 'newer', 'older']);
        expect(spans.every(({ ended }) => ended)).toBe(true);
      },
      'and exports it with `nestlens.truncated: true`': ({ spans }) =>
        expect(spans.map(({ attributes }) => attributes['nestlens.truncated'])).toEqual([
          undefined,
          true,
          true,
        ]),
      'and an event that says why;': ({ spans }) => {
        for (const { events } of spans.slice(1)) {
          expect(events.map(({ name }) => name)).toEqual(['nestlens.truncated']);
          expect(events[0]!.attributes?.reason).toMatch(/shut down/);
        }
      },
      "it isn't an error.": ({ spans }) => expect(spans.map(({ status }) => status.code)).toEqual([0, 0, 0]),
    },
  ),

  'the application goes on writing to such a span': scenario(
    'H10',
    async () => {
      setEnvironment();
      const exporter = new KeepingExporter();
      const app = await startApp({ lens: { telemetry: { spanExporter: exporter } } });
      const span = openSpan('open');
      await app.close();
      return { span, exporter };
    },
    {
      'Nothing:': ({ span }) => {
        expect(span.isRecording()).toBe(false);
        span.setAttribute('late', 1).addEvent('late').setStatus({ code: 2 }).updateName('late').end();
      },
      'the span is already exported.': ({ exporter }) => {
        const [{ name, attributes, status, events }] = exporter.spans as [(typeof exporter.spans)[0]];
        expect([name, status.code, events.map((event) => event.name)]).toEqual([
          'open',
          0,
          ['nestlens.truncated'],
        ]);
        expect(attributes).not.toHaveProperty('late');
        expect(exporter.spans).toHaveLength(1);
      },
    },
  ),

  "another module's shutdown hook throws": scenario(
    'H9',
    async () => {
      const seen = { nest12: [] as string[][], nest11: [] as Awaited<ReturnType<typeof closeWithThrowIn>>[] };
      for (const hook of HOOKS) {
        seen.nest12.push((await closeWithThrowIn(hook, false)).names);
        seen.nest11.push(await closeWithThrowIn(hook, true));
      }
      return seen;
    },
    {
      'On Nest 12 nothing is lost.': ({ nest12 }) =>
        expect(nest12).toEqual(Array(3).fill(['waits', ...HOOKS])),
      'On Nest 11 the close ends there,': ({ nest11 }) =>
        expect(nest11.map(({ failed }) => failed)).toEqual([true, true, true]),
      'and telemetry goes on: spans that wait are exported with the next batch (`OTEL_BSP_SCHEDULE_DELAY`).':
        ({ nest11 }) =>
          expect(nest11.map(({ later }) => later)).toEqual([
            ['waits', HOOKS[0]],
            ['waits', HOOKS[0], HOOKS[1]],
            ['waits', ...HOOKS],
          ]),
      'If the process exits before that, as after a signal on Nest 11, they are lost.': ({ nest11 }) =>
        expect(nest11.map(({ names }) => names)).toEqual([[], [], []]),
    },
  ),

  'the collector is away, hangs, answers 503, resets or trickles': scenario(
    'H9, H12',
    async () => {
      const seen: { after: number; codes: string[]; defaultLimit: unknown }[] = [];
      for (const misbehaviour of [undefined, 'never answers', '503', 'resets', 'trickles'] as const) {
        const receiver = await startReceiver();
        receiver.misbehaves = misbehaviour;
        if (misbehaviour === undefined) await receiver.stop();
        const variables = { OTEL_LOGS_EXPORTER: 'none', OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url };
        setEnvironment({ ...variables, OTEL_EXPORTER_OTLP_TIMEOUT: '6000' });
        const warnings = captureWarnings();
        const app = await startApp({ lens: { shutdownTimeoutMs: LIMIT_MS } });
        await ask(app);
        const began = performance.now();
        await app.close();
        const after = performance.now() - began;
        const codes = warnings.take();
        // The exporter gives up long before the default limit.
        setEnvironment({ ...variables, OTEL_EXPORTER_OTLP_TIMEOUT: '20' });
        SpanRegistry.register('shop', ['orders'], {}, { allowOverride: true });
        const handle = await setUpForTest({ exporter: 'otlp' });
        managedSpan('orders', 'work', () => undefined);
        await handle.shutdown();
        seen.push({ after, codes, defaultLimit: warnings.all.at(-1)?.details['timeoutMs'] });
        SpanRegistry.unregister('shop');
        await receiver.stop();
      }
      return seen;
    },
    {
      'The close ends within `shutdownTimeoutMs` (5,000),': (seen) => {
        for (const { after, defaultLimit } of seen) {
          expect(after).toBeLessThan(LIMIT_MS + SLACK_MS);
          expect(defaultLimit).toBe(5_000);
        }
      },
      'with one `FLUSH_INCOMPLETE`.': (seen) => {
        for (const { codes } of seen) expect(codes).toEqual(['FLUSH_INCOMPLETE']);
      },
    },
  ),

  'the collector hangs, and nothing ends the process after `close`': scenario(
    'H9',
    async () => {
      const close = async (misbehaviour: Misbehaviour) => {
        const receiver = await startReceiver();
        receiver.misbehaves = misbehaviour;
        const shop = startShop({
          shop: { options: { shutdownTimeoutMs: 50 } },
          env: {
            OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url,
            OTEL_EXPORTER_OTLP_TIMEOUT: '1000',
            OTEL_BSP_SCHEDULE_DELAY: '600000',
          },
        });
        await shop.get('/orders');
        const began = performance.now();
        await shop.get('/close');
        await shop.says(/CLOSED/);
        return { shop, receiver, began };
      };
      const [hanging, { shop, receiver }] = await Promise.all([close('never answers'), close('trickles')]);
      const ends = hanging.shop.exited.then((exit) => ({ exit, after: performance.now() - hanging.began }));
      // That it goes on can only be waited for.
      const waited = new Promise<'still there'>((resolve) => setTimeout(resolve, 2_000, 'still there'));
      const trickling = await Promise.race([shop.exited, waited]);
      await receiver.stop();
      const { exit, after } = await ends;
      return { exit, after, trickling, exitAfterAll: await shop.exited };
    },
    {
      "The SDK's exporter goes on trying until its own timeout (`OTEL_EXPORTER_OTLP_TIMEOUT`),": ({
        after,
      }) => {
        expect(after).toBeGreaterThan(990);
        expect(after).toBeLessThan(1_000 + SLACK_MS);
      },
      'then the process ends.': ({ exit }) => expect(exit).toEqual({ code: 0, signal: null }),
      'If a collector answers byte by byte, each byte starts that timeout again.': ({
        trickling,
        exitAfterAll,
      }) => expect([trickling, exitAfterAll]).toEqual(['still there', { code: 0, signal: null }]),
    },
  ),

  'a batch is already being exported': scenario(
    'H9',
    async () => {
      const close = async (exportTakes: number | string, shutdownTimeoutMs: number) => {
        const shop = shopWithFile(
          { exportTakes, options: { shutdownTimeoutMs } },
          { env: { OTEL_BSP_SCHEDULE_DELAY: '1' } },
        );
        await shop.process.get('/orders');
        await shop.process.says(/EXPORTING/);
        expect(shop.names()).toEqual([]);
        await shop.process.kill('SIGTERM');
        return shop;
      };
      return { slow: await close(200, 30_000), silent: await close('for ever', 50) };
    },
    {
      'NestLens waits for it, within the limit,': ({ slow }) => expect(slow.process.warnings()).toEqual([]),
      'before the exporter is shut down;': ({ slow }) => {
        expect([slow.names()[0], slow.names().at(-1)]).toEqual(['OrdersController.list', '(shutdown)']);
        expect([...slow.names()].sort()).toEqual([...EVERYTHING].sort());
      },
      'if it fails, or takes longer, `FLUSH_INCOMPLETE` says so.': ({ silent }) =>
        expect(silent.process.warnings()).toEqual([expect.stringContaining('within 50 ms')]),
    },
  ),

  'the application is closed twice at once': scenario(
    'H9',
    async () => {
      setEnvironment();
      const warnings = captureWarnings();
      const exporter = new KeepingExporter();
      const app = await startApp({ lens: { telemetry: { spanExporter: exporter } } });
      await ask(app);
      await Promise.all([app.close(), app.close()]);
      await app.close();
      expect(warnings.codes()).toEqual([]);
      return exporter;
    },
    {
      'The exporter is shut down once.': ({ names, calls }) => {
        expect(calls.filter((call) => call === 'shutdown')).toHaveLength(1);
        expect(names).toEqual(['OrdersController.list']);
      },
    },
  ),

  'other applications of the process still run': scenario(
    'N2',
    async () => {
      setEnvironment();
      const exporter = new KeepingExporter();
      const apps: INestApplication[] = [];
      for (let i = 0; i < 3; i++)
        apps.push(await startApp({ lens: { telemetry: { spanExporter: exporter } } }));
      const shutdownsAfterClose: number[] = [];
      for (const app of apps) {
        await ask(app);
        await app.close();
        shutdownsAfterClose.push(exporter.calls.filter((call) => call === 'shutdown').length);
      }
      return { shutdownsAfterClose, exporter };
    },
    {
      'Nothing is shut down;': ({ shutdownsAfterClose }) =>
        expect(shutdownsAfterClose.slice(0, 2)).toEqual([0, 0]),
      'the last one to close does that.': ({ shutdownsAfterClose, exporter }) => {
        expect(shutdownsAfterClose.at(-1)).toBe(1);
        expect(exporter.names).toEqual(Array(3).fill('OrdersController.list'));
      },
    },
  ),

  'telemetry is set up again afterwards': scenario(
    'H1',
    async () => {
      setEnvironment();
      const warnings = captureWarnings();
      const exporters = [new KeepingExporter(), new KeepingExporter()];
      for (const [at, spanExporter] of exporters.entries()) {
        const app = await startApp({ lens: { telemetry: { spanExporter } } });
        managedSpan('orders', `of ${at}`, () => undefined);
        openSpan(`open in ${at}`);
        await app.close();
        managedSpan('orders', 'of none', () => undefined);
      }
      return { warnings, exporters };
    },
    {
      'It works,': ({ exporters, warnings }) => {
        expect(exporters[1]!.names).toContain('of 1');
        expect(warnings.codes()).toEqual([]);
      },
      'and its exporter gets only its own spans.': ({ exporters }) =>
        expect(exporters.map(({ names }) => names)).toEqual([
          ['of 0', 'open in 0'],
          ['of 1', 'open in 1'],
        ]),
    },
  ),
};
