// What an application, or another vendor's SDK, brings along that nobody has thought of: it costs itself, never the start.
import { beforeEach, describe, expect, it } from 'vitest';
import { SpanKind, trace, type TracerProvider } from '@opentelemetry/api';
import type { ReadableSpan } from '@opentelemetry/sdk-trace-base';
import {
  enabledSpanGroups,
  type InstrumentationGroupsOptions,
  type SetupOptions,
  setSpanGroupSpec,
  SpanRegistry,
} from 'nest-lens/core';
import { processState } from '../../../src/core/state/process-state.js';
import { captureWarnings } from '../../support/capture-warnings.js';
import { setUpForTest } from '../../support/live-telemetry.js';
import { pgInstrumentation } from './pg-instrumentation.js';

const PG = '@opentelemetry/instrumentation-pg';
const HTTP = '@opentelemetry/instrumentation-http';
const EXPRESS = '@opentelemetry/instrumentation-express';

const ended: string[] = [];
beforeEach(() => {
  captureWarnings(); // none on the console
  ended.length = 0;
});

const keeping = {
  onStart: () => undefined,
  onEnd: (span: ReadableSpan) => void ended.push(span.name),
  forceFlush: () => Promise.resolve(),
  shutdown: () => Promise.resolve(),
};

const setUp = (spanGroups: string, given: unknown = true) =>
  setUpForTest(
    { spanGroups },
    {
      spanProcessors: [keeping],
      instrumentations: [pgInstrumentation()],
      instrumentationGroups: given as SetupOptions['instrumentationGroups'],
    },
  );

const fails = (): never => {
  throw new Error('no');
};

describe('options that can not be read', () => {
  it.each<[what: string, given: unknown, option?: string, shown?: string, nearest?: string]>([
    ['a key that is none', { name: { [PG]: 'db' } }, 'instrumentationGroups.name', 'object', 'names'],
    ['a key that is like none', { off: true }, 'instrumentationGroups.off', 'boolean'],
    ['an array', [PG], 'instrumentationGroups', 'an array'],
    ['names in a list', { names: [PG] }, 'instrumentationGroups.names', 'an array'],
    ['names in a map', { names: new Map([[PG, 'db']]) }, 'instrumentationGroups.names', 'object'],
    ['a text instead of names', { names: 'pg' }, 'instrumentationGroups.names', "'pg'"],
    ['a getter that throws', Object.defineProperty({}, 'names', { enumerable: true, get: fails })],
    ['a proxy that throws', new Proxy({}, { ownKeys: fails })],
  ])('%s is one warning, and pg is gated', async (_what, given, option = '', shown = 'object', nearest) => {
    const warnings = captureWarnings();
    await setUp('', given);
    const { details } = warnings.single('INSTRUMENTATION_OPTION_INVALID');
    expect(details).toMatchObject({ option: option || 'instrumentationGroups', given: shown });
    expect((details as { nearest?: string }).nearest).toBe(nearest);
    trace.getTracer(PG).startSpan('query').end();
    expect(ended).toEqual([]);
  });
});

describe('names of scopes', () => {
  it('a group in place of a scope is a warning with the scope', async () => {
    const warnings = captureWarnings();
    await setUp('all', { names: { http_server: 'edge' } });
    trace.getTracer(HTTP).startSpan('GET', { kind: SpanKind.SERVER }).end();
    expect(warnings.single('INSTRUMENTATION_OPTION_UNMATCHED').details).toMatchObject({
      name: 'http_server',
      nearest: HTTP,
    });
  });

  const REDIS = '@opentelemetry/instrumentation-redis';
  const start = (scope: string): void => trace.getTracer(scope).startSpan(scope).end();

  it.each<[string, Record<string, string | false>, scopes: string[], on: string[], groups: string[]]>([
    ['renames no other scope', { '@acme/pg': 'mine' }, [PG, '@acme/pg'], [PG], ['mine', 'pg']],
    ['frees no other scope', { '@acme/redis': false }, [REDIS, '@acme/redis'], ['@acme/redis'], ['redis']],
    ['is not renamed with another', { [PG]: 'mine' }, ['@acme/pg'], ['@acme/pg'], ['pg']],
    ['that is unknown, neither', { '@a/jobs': 'mine' }, ['jobs', '@a/jobs'], [], ['jobs', 'mine']],
    [
      'has a name of its own beside the short one',
      { '@acme/pg': 'mine', pg: false },
      ['@acme/pg'],
      [],
      ['mine'],
    ],
    ['beats the short one also where that comes first', { pg: 'b', [PG]: 'pg' }, [PG], [PG], ['pg']],
    ['can be given by its group', { redis: 'pg' }, [REDIS], [REDIS], ['pg']],
    [
      'can be given as its package is called',
      { 'Socket.IO': false },
      ['@opentelemetry/instrumentation-socket.io'],
      ['@opentelemetry/instrumentation-socket.io'],
      [],
    ],
    ['can be given by its package', { '@prisma/instrumentation': 'pg' }, ['prisma'], ['prisma'], ['pg']],
  ])('a scope with a name %s', async (_what, names, scopes, on, groups) => {
    const warnings = captureWarnings();
    const handle = await setUpForTest(
      { spanGroups: 'pg' },
      { spanProcessors: [keeping], instrumentationGroups: { names } },
    );
    scopes.forEach(start);
    expect(ended).toEqual(on);
    expect([...SpanRegistry.groups()].sort()).toEqual(groups);
    await handle.shutdown();
    expect(warnings.codes()).not.toContain('INSTRUMENTATION_OPTION_UNMATCHED');
  });

  it('one that only shares the default name of its group with another is a warning at the end', async () => {
    const warnings = captureWarnings();
    const handle = await setUp('all', { names: { '@acme/pg': 'mine', 'my-lib': 'lib' } });
    start(PG);
    start('@acme/my-lib');
    expect(warnings.codes()).toEqual([]);
    await handle.shutdown();
    expect(warnings.all.map(({ code, details }) => [code, details])).toMatchObject([
      ['INSTRUMENTATION_OPTION_UNMATCHED', { name: '@acme/pg', nearest: PG }],
      ['INSTRUMENTATION_OPTION_UNMATCHED', { name: 'my-lib', nearest: '@acme/my-lib' }],
    ]);
  });

  it("one of OpenTelemetry's own that isn't in this process may be in another one, so nothing is said", async () => {
    const warnings = captureWarnings();
    const scopes = [
      'dns',
      'net',
      'fs',
      'generic-pool',
      'lru-memoizer',
      'dataloader',
      'socket.io',
      'aws-lambda',
    ];
    const names = Object.fromEntries(
      scopes.map((scope) => [`@opentelemetry/instrumentation-${scope}`, false]),
    );
    const handle = await setUp('all', { names });
    await handle.shutdown();
    expect(warnings.codes()).toEqual([]);
  });
});

describe('a span that JavaScript asks for', () => {
  it.each([null, 'SERVER', -1, NaN, 99, 1.5])('with the kind %s counts as INTERNAL', async (kind) => {
    captureWarnings();
    await setUp('http_client');
    trace
      .getTracer(HTTP)
      .startSpan('GET', { kind: kind as SpanKind })
      .end();
    expect(ended).toEqual(['GET']);
    expect(SpanRegistry.groups()).toEqual(new Set(['http_client', 'http_server', 'pg']));
  });

  it.each([undefined, null, 7])('with the name %s is a span of GraphQL like any other', async (name) => {
    captureWarnings();
    await setUp('graphql');
    trace
      .getTracer('@opentelemetry/instrumentation-graphql')
      .startSpan(name as unknown as string)
      .end();
    expect(ended).toHaveLength(1);
  });
});

describe('a provider of somebody else', () => {
  it.each([
    ['throws for a tracer', { getTracer: fails }],
    ['gives no tracer', { getTracer: () => undefined }],
  ])('that %s is a warning, and telemetry starts', async (_what, provider) => {
    trace.setGlobalTracerProvider(provider as unknown as TracerProvider);
    const warnings = captureWarnings();
    const handle = await setUpForTest({ spanGroups: 'all' }, { instrumentationGroups: true });
    expect(handle.mode).toBe('attach');
    warnings.single('INSTRUMENTATIONS_UNGATED');
  });

  it('that gives no tracer leaves the API with its own, which records nothing', async () => {
    trace.setGlobalTracerProvider({ getTracer: () => undefined } as unknown as TracerProvider);
    captureWarnings();
    await setUpForTest({ spanGroups: 'all' }, { instrumentationGroups: true });
    expect(trace.getTracer(PG).startSpan('query').isRecording()).toBe(false);
  });
});

describe('a tracer that is asked for anew for each span', () => {
  it('costs no look at the registry, also where the provider makes another one each time', async () => {
    const span = trace.wrapSpanContext({ traceId: '0'.repeat(32), spanId: '0'.repeat(16), traceFlags: 0 });
    const getTracer = () => ({ startSpan: () => span, startActiveSpan: fails });
    trace.setGlobalTracerProvider({ getTracer });
    captureWarnings();
    await setUpForTest({ spanGroups: 'all' }, { instrumentationGroups: { names: { dns: false } } });
    const ask = (scope: string, version = '1.0'): unknown => {
      trace.getTracer(scope, version).startSpan('span').end();
      return processState.namespaces.get('instrumentation');
    };
    ask('dns');
    const known = ask(PG);
    expect(ask(PG)).toBe(known);
    expect(ask('dns')).toBe(known);
    expect(ask('my-lib')).not.toBe(known);
    ask(PG, '1.1');
    expect(processState.instrumentationScopes.get('pg')).toEqual([{ name: PG, version: '1.1' }]);
  });
});

describe('names that the application has as well', () => {
  const both = (): void => {
    for (const kind of [SpanKind.SERVER, SpanKind.CLIENT]) {
      trace.getTracer(HTTP).startSpan(SpanKind[kind], { kind }).end();
    }
  };

  it('a group called http stays on where the spec names it, beside both directions', async () => {
    SpanRegistry.register('shop', ['http', 'orders']);
    await setUp('http');
    both();
    expect(enabledSpanGroups()).toEqual(new Set(['http', 'http_client', 'http_server']));
    setSpanGroupSpec('all,-http');
    expect(enabledSpanGroups()).toEqual(new Set(['orders', 'pg']));
  });

  it('where it has none of that name, none is on', async () => {
    const options: InstrumentationGroupsOptions = { presets: { mine: ['http'] } };
    await setUp('mine', options);
    both();
    expect(SpanRegistry.presets().get('http')).toEqual(new Set(['http_client', 'http_server']));
    expect(SpanRegistry.presets().get('mine')).toEqual(new Set(['http_client', 'http_server']));
    expect(ended).toEqual(['SERVER', 'CLIENT']);
  });

  it.each<[string, InstrumentationGroupsOptions, scope: string, preset: string]>([
    ['a chosen name', { names: { [PG]: 'quick' } }, PG, 'quick'],
    ['the name of a scope', {}, 'quick', 'quick'],
    ['a preset of the option', { presets: { pg: ['express'] } }, PG, 'pg'],
  ])(
    'R21: %s that is a preset too is one warning, as for any registration',
    async (_what, option, scope, name) => {
      SpanRegistry.register('shop', ['orders'], { quick: ['orders'] });
      const warnings = captureWarnings();
      await setUpForTest({ spanGroups: 'all' }, { spanProcessors: [keeping], instrumentationGroups: option });
      for (const any of [scope, 'my-lib', EXPRESS]) trace.getTracer(any).startSpan(any).end();
      expect(ended).toEqual([scope, 'my-lib', EXPRESS]);
      expect(warnings.all.filter(({ code }) => code === 'PRESET_SHADOWS_GROUP')).toMatchObject([
        { details: { namespace: 'instrumentation', name } },
      ]);
    },
  );

  it('R21: a group called like one of the presets that instrumentations bring is one warning', async () => {
    SpanRegistry.register('shop', ['databases', 'http']);
    const warnings = captureWarnings();
    await setUp('all');
    both();
    both();
    expect(warnings.all.map(({ code, details }) => [code, details])).toEqual([
      ['PRESET_SHADOWS_GROUP', { namespace: 'instrumentation', name: 'databases' }],
      ['PRESET_SHADOWS_GROUP', { namespace: 'instrumentation', name: 'http' }],
    ]);
  });

  it('a namespace called instrumentation stays its own, also after the shutdown', async () => {
    SpanRegistry.register('instrumentation', ['gauges']);
    const handle = await setUp('gauges,pg');
    expect(enabledSpanGroups()).toEqual(new Set(['gauges', 'pg']));
    expect(SpanRegistry.namespaces()).toEqual(['instrumentation', 'instrumentation_groups']);
    await handle.shutdown();
    expect(SpanRegistry.namespaces()).toEqual(['instrumentation']);
    expect(SpanRegistry.groups()).toEqual(new Set(['gauges']));
  });
});

it('where no group is known yet, the warning says that instrumentations bring theirs later', async () => {
  const warnings = captureWarnings();
  await setUpForTest({ spanGroups: 'pg' }, { spanProcessors: [keeping], instrumentationGroups: true });
  expect(warnings.single('NOTHING_REGISTERED').message).toMatch(/is registered with its first span/);
  trace.getTracer(PG).startSpan('query').end();
  expect(ended).toEqual(['query']);
});
