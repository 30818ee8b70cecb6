// Values of a wrong type, as JavaScript lets through, are refused by a set-up with words, before anything is built.
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { trace } from '@opentelemetry/api';
import { defineSpanGroups, nestLensConfigFromEnv, setupTelemetry, traceFn } from 'nest-lens/core';
import { NestLensModule, SpanGroup } from 'nest-lens';
import { createLensTestbed } from 'nest-lens/testing';
import { processState } from '../../../src/core/state/process-state.js';
import { captureWarnings } from '../../support/capture-warnings.js';

const METHODS = { export() {}, shutdown() {}, forceFlush() {}, onStart() {}, onEnd() {}, collect() {} };
const without = (method: string): object => ({ ...METHODS, [method]: undefined });
const CONFIG = { ...nestLensConfigFromEnv({ env: {} }), enabled: true, exporter: 'none' as const };

/** Option, value, what is said of it. */
const WRONG_OPTIONS: [string, any, string][] = [
  ['mode', 'atach', "mode must be 'own' or 'attach', not the string 'atach'"],
  ['mode', null, 'not null'],
  [
    'spanExporter',
    'console',
    'spanExporter must be an exporter with the methods export(), shutdown(), not the string',
  ],
  ['spanExporter', without('export'), 'not an object'],
  ['spanExporter', [METHODS], 'not an array'],
  ['spanExporter', class Exporter {}, 'not a function'],
  ['spanProcessors', {}, 'spanProcessors must be an array of span processors, not an object'],
  ['spanProcessors', METHODS, 'an array of span processors'],
  [
    'spanProcessors',
    [METHODS, null],
    'spanProcessors[1] must be a span processor with the methods onStart()',
  ],
  ['spanProcessors', [without('forceFlush')], 'spanProcessors[0]'],
  ['metricReader', 5, 'metricReader must be a metric reader with the methods collect()'],
  ['metricReader', [METHODS], 'not an array'],
  ['metricReaders', [METHODS], 'a key must be one of spanExporter, spanProcessors, metricReader'],
  [
    'instrumentations',
    [null],
    'instrumentations[0] must be an instrumentation with the methods enable(), disable(), not null',
  ],
  ['instrumentations', [[METHODS]], 'instrumentations[0][0]'],
  ['instrumentations', METHODS, 'an array of instrumentations'],
  ['resourceAttributes', 'team=a', 'resourceAttributes must be an object of values by name'],
  ['resourceAttributes', new Map([['team', 'a']]), 'not an object'],
  ['resourceAttributes', null, 'not null'],
  ['isError', true, 'isError must be a function of the thrown value, not true'],
];

const NO_OBJECTS: [string, any][] = [
  ['null', null],
  ["the string 'x'", 'x'],
  ['5', 5],
  ['an array', []],
  ['a function', () => ({})],
];

afterEach(() => {
  expect(processState.telemetry.phase).toBe('off');
});

/** What a rejected or thrown refusal says; nothing was registered or claimed. */
async function refuses(call: () => unknown, says: string, kind: object = TypeError): Promise<void> {
  const warnings = captureWarnings();
  const before = { provider: trace.getTracerProvider(), pinned: processState.pinned };
  const thrown: unknown = await (async () => call())().then(
    () => undefined,
    (error: unknown) => error,
  );
  expect(thrown).toBeInstanceOf(kind);
  expect((thrown as Error).message).toContain(says);
  expect({ provider: trace.getTracerProvider(), pinned: processState.pinned }).toEqual(before);
  expect(warnings.take()).toEqual([]);
}

// None on the console.
beforeEach(() => void captureWarnings());

describe('setupTelemetry', () => {
  it.each(WRONG_OPTIONS)('H4: refuses options with %s, on and off (row %#)', async (option, value, says) => {
    await refuses(() => setupTelemetry(CONFIG, { [option]: value }), says);
    await refuses(() => setupTelemetry({ ...CONFIG, enabled: false }, { [option]: value }), says);
  });

  it.each(NO_OBJECTS)('H4: refuses %s as options, and as a config', async (kind, given) => {
    await refuses(() => setupTelemetry(CONFIG, given), `options must be an object, not ${kind}`);
    await refuses(() => setupTelemetry(given), `gives it, not ${kind}`);
  });

  it.each<[string, any, string]>([
    ['userId', 5, "userId is '5'. Allowed: [a string]."],
    ['userId', null, "userId is 'null'"],
    ['runId', Symbol('run'), "runId is 'a symbol'"],
    ['serviceName', { name: 'shop' }, "serviceName is 'an object'"],
    ['spanGroups', ['orders'], "spanGroups is 'an array'"],
    ['spanGroups', undefined, "spanGroups is 'undefined'"],
    ['exporter', Object.create(null), "exporter is 'an object'. Allowed: [otlp, console, tree, none]."],
    ['enabled', Object.create(null), "enabled is 'an object'. Allowed: [true, false]."],
    ['metricsEnabled', 'no', "metricsEnabled is 'no'"],
  ])('C3: refuses a config with %s (row %#)', async (key, value, says) => {
    const call = (): unknown => setupTelemetry({ ...CONFIG, [key]: value });
    await expect((async () => call())()).rejects.toMatchObject({
      name: 'ConfigError',
      code: 'INVALID_VALUE',
    });
    await refuses(call, says, Error);
  });

  it('C2: a config that JavaScript leaves incomplete has the defaults', async () => {
    const { runId: _, userId: __, ...config } = CONFIG;
    const handle = await setupTelemetry({ ...config, metricsEnabled: false, origins: null } as never);
    expect(handle.mode).toBe('own');
    await handle.shutdown();
  });
});

describe('nestLensConfigFromEnv', () => {
  it.each<[string, any, string]>([
    ...NO_OBJECTS.map(([kind, given]): [string, any, string] => [kind, given, 'options must be an object']),
    ['a prefix that is not a string', { prefix: 5 }, 'options.prefix must be a string, not 5'],
    ['a fallback that is not a string', { fallbackPrefix: null }, 'options.fallbackPrefix must be a string'],
    ['an env that is a string', { env: 'NEST_LENS_ENABLED=true' }, 'options.env must be an object'],
    [
      "an env whose values aren't strings",
      { env: { NEST_LENS_ENABLED: true } },
      'NEST_LENS_ENABLED must be a string, not true',
    ],
  ])('C1: refuses %s', async (_what, given, says) => {
    await refuses(() => nestLensConfigFromEnv(given), says);
  });

  it("C1: what isn't read may be anything", () => {
    expect(nestLensConfigFromEnv({ env: { NEST_LENS_SPANGROUP: null, PORT: 80 } as never }).enabled).toBe(
      false,
    );
  });
});

describe('forRoot and the factory of forRootAsync', () => {
  const WRONG: [string, any, string][] = [
    ...WRONG_OPTIONS.map(([option, value, says]): [string, any, string] => [
      'telemetry',
      { [option]: value },
      says,
    ]),
    ['telemetry', 'console', 'telemetry must be an object'],
    ['config', 'all', 'config must be an object'],
    ['config', [], 'config must be an object, not an array'],
    ['env', 'WORKER', 'env must be an object'],
    ['env', { prefix: 5 }, 'env.prefix must be a string, not 5'],
    ['setupAt', 'start', "setupAt must be 'bootstrap' or 'init', not the string 'start'"],
    ['shutdownTimeoutMs', '500', "shutdownTimeoutMs must be a number of milliseconds, not the string '500'"],
    ['isError', 'never', 'isError must be a function'],
  ];

  it.each(WRONG)('H12: refuses a wrong %s where it is given (row %#)', async (option, value, says) => {
    await refuses(() => NestLensModule.forRoot({ [option]: value }), says);
  });

  it.each<[string, any, string]>([
    ['imports', {}, 'imports must be an array'],
    ['inject', 'ConfigService', 'inject must be an array'],
    ['useFactory', { config: {} }, 'useFactory must be a function, not an object'],
    ['useClass', {}, 'useClass must be a class'],
  ])('H12: refuses %s of another type beside the factory', async (option, value, says) => {
    const factory = { useFactory: () => ({}) };
    await refuses(() => NestLensModule.forRootAsync({ ...factory, [option]: value }), says);
  });

  it('H13: NaN and a negative limit are no mistake of wiring', () => {
    for (const shutdownTimeoutMs of [NaN, -1, Infinity]) NestLensModule.forRoot({ shutdownTimeoutMs });
  });
});

describe('where sites and tests are made', () => {
  it.each<[string, any]>([
    ['undefined', undefined],
    ['5', 5],
    ['a symbol', Symbol('orders')],
    ['an object', Object.create(null)],
  ])('I1: refuses %s as a group or spec', async (kind, given) => {
    const shop = defineSpanGroups({ namespace: 'shop', groups: ['orders'] });
    await refuses(() => SpanGroup(given), `@SpanGroup: group must be a string, not ${kind}`);
    await refuses(() => traceFn(given, 'work'), `traceFn: group must be a string, not ${kind}`);
    await refuses(() => shop.group(given), `must be a string, not ${kind}`);
    if (given !== undefined)
      await refuses(() => createLensTestbed({ spec: given }), `spec must be a string, not ${kind}`);
  });

  it('R4: refuses a testbed of no object, or of definitions of a wrong type', async () => {
    await refuses(() => createLensTestbed('orders' as never), 'options must be an object');
    await refuses(() => createLensTestbed({ definitions: 5 as never }), 'definitions must be an array');
    await refuses(() => createLensTestbed({ definitions: [5] as never }), 'a definition must be an object');
  });
});
