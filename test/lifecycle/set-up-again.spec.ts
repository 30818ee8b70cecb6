import 'reflect-metadata';
import { describe, expect, it, jest } from '@jest/globals';
import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { NestLensModule } from 'nest-lens';
import { startReceiver } from '../support/otlp-receiver.js';
import { startShop } from '../support/shop-process.js';

jest.setTimeout(60_000);

describe('instrumentations', () => {
  it.each([
    ['that the application gives each time', { scriptArguments: ['given'] }],
    ['that nest-lens/register has started', { nodeArguments: ['--import', 'nest-lens/register'] }],
  ])('H1: %s work in each set-up, and make nothing in between', async (_, how) => {
    const receiver = await startReceiver();
    const rounds = startShop({
      ...how,
      script: 'rounds.cjs',
      env: { OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url },
    });
    expect(await rounds.exited).toEqual({ code: 0, signal: null });
    // By the client and by the server.
    const asked = receiver.spans.map(({ kind, attributes }) => {
      const target = attributes['http.target'] ?? attributes['url.path'] ?? attributes['url.full'];
      return `${kind === 2 ? 'served' : 'asked'} ${new URL(String(target), 'http://host').pathname}`;
    });
    expect(asked.sort()).toEqual(
      ['asked', 'served'].flatMap((part) => ['first', 'second', 'third'].map((path) => `${part} /${path}`)),
    );
  });

  it('H1: of a module are on again before its application builds its routes, unless it says that telemetry is off', async () => {
    const seen: string[] = [];
    const instrumentation = {
      instrumentationName: 'probe',
      instrumentationVersion: '1.0.0',
      enable: () => void seen.push('on'),
      disable: () => void seen.push('off'),
      setTracerProvider: () => undefined,
      setMeterProvider: () => undefined,
      getConfig: () => ({ enabled: true }),
    };
    for (const enabled of [true, true, false]) {
      @Module({
        imports: [
          NestLensModule.forRoot({
            config: { enabled, spanGroups: '', exporter: 'none', metricsEnabled: false },
            telemetry: { instrumentations: [instrumentation] },
          }),
        ],
        providers: [{ provide: 'first hook', useValue: { onModuleInit: () => void seen.push('built') } }],
      })
      class AppModule {}
      const app = await NestFactory.create(AppModule, { logger: false });
      await app.init();
      await app.close();
    }
    expect(seen).toEqual(['built', 'off', 'on', 'built', 'off', 'built']);
  });
});
