import { describe, expect, it } from 'vitest';
import { type INestApplication, Module, type OnApplicationBootstrap } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { Test } from '@nestjs/testing';
import { isSpanGroupEnabled, managedSpan, NestLensModule } from 'nest-lens';
import { processState } from '../../src/core/state/process-state.js';
import { TelemetryLifecycle } from '../../src/nest/telemetry.lifecycle.js';
import { edgeHooksOf, guardEachTest, namesOf, RecordingExporter, until } from '../support/lens-app.js';

guardEachTest();

/** For how long the next application waits for a close that never ends. */
const SHUTDOWN_TIMEOUT_MS = 200;

function appModule(spanExporter: RecordingExporter, ...providers: (new () => object)[]) {
  @Module({
    imports: [
      NestLensModule.forRoot({
        registrations: [{ namespace: 'shop', groups: ['orders'] }],
        config: { enabled: true, spanGroups: 'orders', metricsEnabled: false },
        telemetry: { spanExporter },
        shutdownTimeoutMs: SHUTDOWN_TIMEOUT_MS,
      }),
    ],
    providers,
  })
  class AppModule {}
  return AppModule;
}

function create(spanExporter: RecordingExporter, ...providers: (new () => object)[]) {
  return NestFactory.create(appModule(spanExporter, ...providers), { logger: false, abortOnError: false });
}

/** Whether telemetry is on, and how many applications use it. */
const state = () => ({
  phase: processState.telemetry.phase,
  users: [...processState.applications].filter(({ telemetry }) => telemetry !== undefined).length,
});
const OFF = { phase: 'off', users: 0 };

/** Lets the event loop turn a few times. */
async function turns(count: number): Promise<void> {
  for (let i = 0; i < count; i++) await new Promise((resolve) => setImmediate(resolve));
}

/** Calls the hooks by hand: Nest's own steps between them take many turns. */
function start(app: INestApplication) {
  const lifecycle = app.get(TelemetryLifecycle, { strict: false });
  lifecycle.onModuleInit();
  return { starting: lifecycle.onApplicationBootstrap(), close: edgeHooksOf(app).onApplicationShutdown };
}

describe('an application that closes while it starts', () => {
  it.each([0, 1, 2, 5, 10, 20])('H1, N2: leaves nothing behind, after %d turns', async (count) => {
    const exporter = new RecordingExporter();
    const app = await create(exporter);
    const { starting, close } = start(app);
    await turns(count);
    await close();
    await starting;

    expect(state()).toEqual(OFF);
    await app.close();
    const next = new RecordingExporter();
    const second = await create(next);
    await second.init();
    managedSpan('orders', 'of the next', () => undefined);
    await second.close();
    expect(namesOf(next.spans)).toEqual(['of the next']);
  });

  it("N2: of two, the one that joined the other's start and closed first leaves, and the other one serves", async () => {
    const exporter = new RecordingExporter();
    const [first, second] = [await create(exporter), await create(new RecordingExporter())];
    const starting = [first, second].map(start);
    await starting[1]!.close();
    await Promise.all(starting.map((each) => each.starting));
    managedSpan('orders', 'of the first', () => undefined);
    await starting[0]!.close();

    expect(state()).toEqual(OFF);
    expect(namesOf(exporter.spans)).toEqual(['of the first']);
    expect(exporter.shutdowns).toBe(1);
  });

  it('N2: closed before its bootstrap, it sets nothing up', async () => {
    let goOn = (): void => undefined;
    class Slow {
      onModuleInit(): Promise<void> {
        return new Promise((resolve) => (goOn = resolve));
      }
    }
    const exporter = new RecordingExporter();
    const app = await create(exporter, Slow);
    const starting = app.init();
    await turns(3);
    await app.close();
    goOn();
    await starting;

    expect(state()).toEqual(OFF);
    expect(processState.namespaces.size).toBe(0);
  });
});

describe('an application that closes in an odd way', () => {
  it('N2: initialised twice, it is one application, and one close shuts down', async () => {
    const exporter = new RecordingExporter();
    const testing = await Test.createTestingModule({ imports: [appModule(exporter)] }).compile();
    await testing.init();
    const app: INestApplication = testing.createNestApplication();
    await app.init();
    managedSpan('orders', 'of both', () => undefined);
    await app.close();

    expect(state()).toEqual(OFF);
    expect(namesOf(exporter.spans)).toEqual(['of both']);
    expect(exporter.shutdowns).toBe(1);
    await testing.close();
    expect(exporter.shutdowns).toBe(1);
  });

  it('H1: started again after its close, it traces again', async () => {
    const exporter = new RecordingExporter();
    const testing = await Test.createTestingModule({ imports: [appModule(exporter)] }).compile();
    for (const name of ['first', 'second']) {
      const app: INestApplication = testing.createNestApplication();
      await app.init();
      managedSpan('orders', name, () => undefined);
      await app.close();
      expect(state()).toEqual(OFF);
    }
    expect(namesOf(exporter.spans)).toEqual(['first', 'second']);
  });

  it('N2: closed twice at once, both closes wait for what is exported', async () => {
    const exporter = new RecordingExporter();
    let letGo = (): void => undefined;
    const held = new Promise<void>((resolve) => (letGo = resolve));
    exporter.shutdown = () => held;
    const app = await create(exporter);
    await app.init();
    let done = 0;
    // As Nest 11 calls it, whose closes overlap.
    const closes = [1, 2].map(() =>
      edgeHooksOf(app)
        .onApplicationShutdown()
        .then(() => done++),
    );
    await turns(10);
    expect(done).toBe(0);
    letGo();
    await Promise.all(closes);
    expect(state()).toEqual(OFF);
    await app.close();
  });

  it('N2: a close that was broken off, as on Nest 11 by a hook that throws, does not keep the next ones from ending', async () => {
    const broken = new RecordingExporter();
    const first = await create(broken);
    await first.init();
    // All that is called before another module's onModuleDestroy throws.
    edgeHooksOf(first).onModuleDestroy();

    const replacing = new RecordingExporter();
    const second = await create(replacing);
    await second.init();
    managedSpan('orders', 'of the first', () => undefined);
    expect(await until(() => broken.shutdowns === 1 && isSpanGroupEnabled('orders'))).toBe(true);
    managedSpan('orders', 'of the second', () => undefined);
    await second.close();
    expect(namesOf(broken.spans)).toEqual(['of the first']);
    expect(namesOf(replacing.spans)).toEqual(['of the second']);
    expect(state()).toEqual(OFF);

    const exporter = new RecordingExporter();
    const third = await create(exporter);
    await third.init();
    managedSpan('orders', 'of the third', () => undefined);
    await first.close();
    expect(state()).toEqual({ phase: 'live', users: 1 });
    await third.close();
    expect(namesOf(exporter.spans)).toEqual(['of the third']);
    expect(state()).toEqual(OFF);
  });

  it('N2: of two that close at once, the slower one shuts down', async () => {
    const exporter = new RecordingExporter();
    class Slow implements OnApplicationBootstrap {
      onApplicationBootstrap(): void {
        // Only its close is slow.
      }
      async beforeApplicationShutdown(): Promise<void> {
        await turns(20);
        managedSpan('orders', 'of the slow close', () => undefined);
      }
    }
    const [slow, quick] = [await create(exporter, Slow), await create(new RecordingExporter())];
    await slow.init();
    await quick.init();
    await Promise.all([slow.close(), quick.close()]);

    expect(namesOf(exporter.spans)).toEqual(['of the slow close']);
    expect(exporter.shutdowns).toBe(1);
    expect(state()).toEqual(OFF);
  });
});
