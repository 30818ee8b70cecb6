import net from 'node:net';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { Global, Injectable, Module, type INestApplication, type Type } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base';
import { isSpanGroupEnabled, managedSpan, NestLensModule, type SetupOptions } from 'nest-lens';
import { captureWarnings } from '../support/capture-warnings.js';
import { onEachPlatform } from '../support/adapters.js';
import { edgeHooksOf, guardEachTest, RecordingExporter, until } from '../support/lens-app.js';

const PHASES = ['onModuleDestroy', 'beforeApplicationShutdown', 'onApplicationShutdown'] as const;
const MODULES = ['Root', 'Feature', 'GlobalBefore', 'GlobalAfter'];

/** Something of the pipeline that doesn't come to an end before it is let go. */
class Held {
  letGo!: () => void;
  readonly until = new Promise<void>((resolve) => (this.letGo = resolve));
}

/** An application whose modules, and the providers in them, note their hooks of closing; each makes a span, too. */
function appThatNotes(telemetry: SetupOptions, called: string[]): Type {
  const run = (name: string): void => {
    called.push(name);
    managedSpan('orders', name, () => undefined);
  };
  const hooksOf = (name: string): object =>
    Object.fromEntries(PHASES.map((phase) => [phase, () => run(`${name}.${phase}`)]));
  const moduleOf = (name: string, imports: unknown[] = []): Type => {
    const Provider = { [`${name}Provider`]: class {} }[`${name}Provider`] as Type;
    Object.assign(Provider.prototype as object, hooksOf(`${name}Provider`));
    Injectable()(Provider);
    const Class = { [name]: class {} }[name] as Type;
    Object.assign(Class.prototype as object, hooksOf(name));
    Module({ imports: imports as Type[], providers: [Provider] })(Class);
    if (name.startsWith('Global')) Global()(Class);
    return Class;
  };
  const lens = NestLensModule.forRoot({
    registrations: [{ namespace: 'shop', groups: ['orders'] }],
    config: { enabled: true, spanGroups: 'all', exporter: 'none', metricsEnabled: false },
    telemetry,
  });
  const Feature = moduleOf('Feature', [NestLensModule.forFeature({ namespace: 'lib', groups: ['lib'] })]);
  return moduleOf('Root', [moduleOf('GlobalBefore'), lens, moduleOf('GlobalAfter'), Feature]);
}

/** Whether somebody else could listen where the application did. */
function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = net.createServer();
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}

const processor = { onStart: () => undefined, onEnd: () => undefined, shutdown: () => Promise.resolve() };

/** What of a pipeline can hang, each as options that hang until they are let go. */
const HANGING: Record<string, (held: Held) => SetupOptions> = {
  'an export that is not answered': (held) => ({
    spanExporter: Object.assign(new RecordingExporter(), {
      export: (_spans: unknown, done: (result: { code: number }) => void) =>
        void held.until.then(() => done({ code: 0 })),
    }),
  }),
  // The batch processor of the SDK asks for no such flush.
  "an exporter's flush": (held) => ({
    spanProcessors: [
      new SimpleSpanProcessor(Object.assign(new RecordingExporter(), { forceFlush: () => held.until })),
    ],
  }),
  "an exporter's shutdown": (held) => ({
    spanExporter: Object.assign(new RecordingExporter(), { shutdown: () => held.until }),
  }),
  "a span processor's flush": (held) => ({
    spanProcessors: [{ ...processor, forceFlush: () => held.until }],
  }),
};

onEachPlatform('a close that telemetry has to wait for', (platform) => {
  it.each(Object.entries(HANGING))(
    'H13: %s holds up no hook of any module, nor the port',
    async (_what, hanging) => {
      captureWarnings();
      const held = new Held();
      const called: string[] = [];
      const app = await NestFactory.create<INestApplication>(
        appThatNotes(hanging(held), called),
        platform.create(),
        { logger: false },
      );
      await app.listen(0, '127.0.0.1');
      const { port } = app.getHttpServer().address() as net.AddressInfo;
      managedSpan('orders', 'work', () => undefined);
      let isClosed = false;
      const closed = app.close().then(() => (isClosed = true));

      const expected = MODULES.flatMap((name) =>
        [name, `${name}Provider`].flatMap((each) => PHASES.map((phase) => `${each}.${phase}`)),
      );
      expect(await until(() => called.length === expected.length, 1_000)).toBe(true);
      expect([...called].sort()).toEqual(expected.sort());
      expect({ isClosed, isFree: await isFree(port) }).toEqual({ isClosed: false, isFree: true });
      held.letGo();
      await closed;
    },
  );

  it('H9, H13: spans of every hook are exported, those of the last one too', async () => {
    const exporter = new RecordingExporter();
    const called: string[] = [];
    const app = await NestFactory.create(
      appThatNotes({ spanExporter: exporter }, called),
      platform.create(),
      { logger: false },
    );
    await app.listen(0, '127.0.0.1');
    await app.close();

    expect(called).toHaveLength(MODULES.length * 2 * PHASES.length);
    expect(exporter.spans.map(({ name }) => name)).toEqual(called);
  });
});

describe('an application that starts while another one is closing', () => {
  guardEachTest();

  function appOf(groups: string[], telemetry: SetupOptions = {}): Promise<INestApplication> {
    @Module({
      imports: [
        NestLensModule.forRoot({
          registrations: [{ namespace: 'shop', groups }],
          config: { enabled: true, spanGroups: 'all', exporter: 'none', metricsEnabled: false },
          telemetry,
        }),
      ],
    })
    class AppModule {}
    return NestFactory.create(AppModule, { logger: false, abortOnError: false });
  }

  it('H13, H1: starts without waiting for its shutdown, and sets up when that is done', async () => {
    const held = new Held();
    const first = await appOf(['orders'], HANGING["an exporter's shutdown"]!(held));
    await first.init();
    const closed = first.close();
    expect(await until(() => !isSpanGroupEnabled('orders'))).toBe(true);

    const exporter = new RecordingExporter();
    const second = await appOf(['orders'], { spanExporter: exporter });
    await second.init();
    expect(isSpanGroupEnabled('orders')).toBe(false);
    held.letGo();
    await closed;
    expect(await until(() => isSpanGroupEnabled('orders'))).toBe(true);
    managedSpan('orders', 'of the second', () => undefined);
    await second.close();
    expect(exporter.spans.map(({ name }) => name)).toEqual(['of the second']);
  });

  it('N2: takes over the namespaces of the other one, whose groups may be others, as after a hot reload', async () => {
    const warnings = captureWarnings();
    const exporter = new RecordingExporter();
    const first = await appOf(['orders'], { spanExporter: exporter });
    await first.init();
    // The first hook of a close; those of the application take as long as they like.
    edgeHooksOf(first).onModuleDestroy();
    const later = new RecordingExporter();
    const second = await appOf(['orders', 'payment'], { spanExporter: later });
    await second.init();
    await first.close();

    expect(await until(() => isSpanGroupEnabled('orders') && isSpanGroupEnabled('payment'))).toBe(true);
    expect(exporter.shutdowns).toBe(1);
    managedSpan('payment', 'of the second', () => undefined);
    await second.close();
    expect(later.spans.map(({ name }) => name)).toEqual(['of the second']);
    expect(warnings.codes()).toEqual([]);
  });

  it('N2, R4: is refused other groups under a namespace of one that goes on', async () => {
    const first = await appOf(['orders']);
    await first.init();
    const second = await appOf(['orders', 'payment']);
    await expect(second.init()).rejects.toMatchObject({ code: 'NAMESPACE_REGISTERED' });
    await second.close();
    await first.close();
  });
});

describe('NO_SHUTDOWN_HOOKS', () => {
  guardEachTest();
  afterEach(() => void vi.useRealTimers());

  /** An application that serves; two seconds go by at the turn of a hand. */
  async function serve(...providers: Type[]): Promise<INestApplication> {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] });
    @Module({
      imports: [
        NestLensModule.forRoot({
          config: { enabled: true, metricsEnabled: false },
          telemetry: { spanExporter: new RecordingExporter() },
        }),
      ],
      providers,
    })
    class AppModule {}
    const app = await NestFactory.create(AppModule, { logger: false });
    return app.init();
  }

  it('H9: is said two seconds after the start, while the application serves', async () => {
    const warnings = captureWarnings();
    const app = await serve();
    vi.advanceTimersByTime(2_000);
    expect(warnings.codes()).toContain('NO_SHUTDOWN_HOOKS');
    await app.close();
  });

  it('H9: is not said in the middle of a close, however long its first hook takes', async () => {
    const warnings = captureWarnings();
    const held = new Held();
    let hasBegun = false;
    @Injectable()
    class Slow {
      onModuleDestroy(): Promise<void> {
        hasBegun = true;
        return held.until;
      }
    }
    const app = await serve(Slow);
    const closed = app.close();
    for (let turn = 0; !hasBegun && turn < 100; turn++) {
      await new Promise((resolve) => setImmediate(resolve));
    }
    vi.advanceTimersByTime(10_000);
    expect(warnings.codes()).not.toContain('NO_SHUTDOWN_HOOKS');
    held.letGo();
    await closed;
  });
});
