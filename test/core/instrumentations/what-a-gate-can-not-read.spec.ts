// Names, versions, options and contexts of any type, as JavaScript gives them: the application gets what it gets without NestLens.
import { beforeEach, describe, expect, it } from 'vitest';
import { type Context, context, type SpanOptions, trace, type TracerProvider } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { BasicTracerProvider, type ReadableSpan } from '@opentelemetry/sdk-trace-base';
import { overrideSpanGroups, SpanRegistry } from 'nest-lens/core';
import { groupOfSpan } from '../../../src/core/instrumentations/group-of-span.js';
import { beginPreview } from '../../../src/core/groups/span-preview.js';
import { processState } from '../../../src/core/state/process-state.js';
import { captureWarnings } from '../../support/capture-warnings.js';
import { setUpForTest } from '../../support/live-telemetry.js';

const PG = '@opentelemetry/instrumentation-pg';

const ended: ReadableSpan[] = [];
beforeEach(() => {
  captureWarnings(); // none on the console
  ended.length = 0;
});

const keeping = {
  onStart: () => undefined,
  onEnd: (span: ReadableSpan) => void ended.push(span),
  forceFlush: () => Promise.resolve(),
  shutdown: () => Promise.resolve(),
};

const fails = (): never => {
  throw new Error('no');
};

/** The SDK's provider, or another vendor's, whose tracers say nothing and take anything. */
const PROVIDERS: readonly (readonly [string, () => TracerProvider])[] = [
  ["the SDK's provider", () => new BasicTracerProvider({ spanProcessors: [keeping] })],
  [
    "another vendor's provider",
    () => {
      const tracer = new BasicTracerProvider({ spanProcessors: [keeping] }).getTracer('vendor');
      const startSpan = (name: string): unknown => tracer.startSpan(name);
      return { getTracer: () => ({ startSpan, startActiveSpan: fails }) } as unknown as TracerProvider;
    },
  ],
];

function attach(spanGroups: string, provider: TracerProvider, metricsEnabled = false) {
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  trace.setGlobalTracerProvider(provider);
  return setUpForTest({ spanGroups, metricsEnabled }, { instrumentationGroups: true });
}

const start = (scope: unknown, version?: unknown): void =>
  trace
    .getTracer(scope as string, version as string)
    .startSpan('work')
    .end();

describe.each(PROVIDERS)('with %s', (what, provider) => {
  const isVendor = what.startsWith('another');
  const odd: [string, unknown][] = [
    ['undefined', undefined],
    ['null', null],
    ['7', 7],
    ['NaN', NaN],
    ['true', true],
    ['an object', {}],
    ['a list', []],
    ['a function', () => 'reports'],
    ["''", ''],
  ];
  /** The SDK itself refuses these. */
  const onlyForVendors: [string, unknown][] = isVendor
    ? [
        ['a symbol', Symbol('reports')],
        ['an object that is no text', { toString: fails }],
      ]
    : [];

  it.each([...odd, ...onlyForVendors])(
    'H12: a tracer whose name is %s is one of the group unnamed',
    async (_what, name) => {
      await attach('reports', provider());
      start(name);
      expect(ended).toHaveLength(0);
      expect([...SpanRegistry.groups()]).toEqual(['unnamed']);
      overrideSpanGroups('unnamed');
      start(name);
      start('reports');
      expect(ended).toHaveLength(1);
    },
  );

  it.each([...odd, ...onlyForVendors].filter(([, version]) => version !== ''))(
    'H12: the version %s counts as none',
    async (_what, version) => {
      await attach('pg', provider());
      start(PG, version);
      expect(ended).toHaveLength(1);
      expect(processState.instrumentationScopes.get('pg')).toEqual([{ name: PG, version: undefined }]);
    },
  );

  it('a preview counts the spans of a tracer without a name', async () => {
    await attach('', provider());
    start(undefined);
    const preview = beginPreview(['unnamed'])!;
    start(undefined);
    expect([...preview.counts.get('unnamed')!]).toEqual([['', 1]]);
    preview.end();
  });

  it('H12: a tracer without a name that has made spans before the set-up does not stop it', async () => {
    const made = provider();
    made.getTracer(undefined as never).startSpan('before');
    made.getTracer(null as never).startSpan('before');
    const handle = await attach('all', made);
    expect(handle.mode).toBe('attach');
    start(undefined);
    expect(ended).toHaveLength(1);
  });

  it.each<[string, unknown]>([
    ['a name that is a proxy', new Proxy({}, { get: fails })],
    ['a name that cannot become a text', Object.create(null)],
  ])('H12: for GraphQL %s is a name like any other', async (_what, name) => {
    await attach('graphql', provider());
    trace
      .getTracer('@opentelemetry/instrumentation-graphql')
      .startSpan(name as string)
      .end();
    expect(ended).toHaveLength(1);
  });

  it('H12: what is no context can be entered, also once a span was off', async () => {
    await attach('', provider());
    start(PG);
    const bare = { mine: true } as unknown as Context;
    expect(context.with(bare, () => context.active())).toBe(bare);
    expect(context.bind(bare, () => context.active())()).toBe(bare);
  });
});

describe('a gate that fails', () => {
  const [, vendor] = PROVIDERS[1]!;
  const unreadable = (): SpanOptions => Object.defineProperty({}, 'kind', { get: fails });

  it('makes the span whatever the spec says, which is one warning', async () => {
    await attach('', vendor());
    const warnings = captureWarnings();
    const tracer = trace.getTracer(PG);
    tracer.startSpan('first', unreadable()).end();
    tracer.startSpan('second', unreadable()).end();
    tracer.startSpan('off').end();
    expect(ended.map(({ name }) => name)).toEqual(['first', 'second']);
    const { details, message } = warnings.single('INSTRUMENTATIONS_UNGATED');
    expect(details).toMatchObject({ spans: 'failed gates' });
    expect(message).toContain('(no)');
  });

  it('also where the parent is no context', async () => {
    await attach('', vendor());
    trace
      .getTracer(PG)
      .startSpan('work', {}, {} as Context)
      .end();
    expect(ended).toHaveLength(1);
  });

  it('also where a tracer does not tell its scope', async () => {
    class Telling {
      constructor(private readonly name: unknown) {}
      get instrumentationScope(): unknown {
        return typeof this.name === 'string' && this.name !== 'secret' ? { name: this.name } : fails();
      }
      startSpan(name: string): unknown {
        return vendor().getTracer('').startSpan(name);
      }
    }
    await attach('', { getTracer: (name: string) => new Telling(name) } as unknown as TracerProvider);
    start('secret');
    start('open');
    expect(ended).toHaveLength(1);
  });

  it('counts nothing where a tracer gives no span', async () => {
    const provider = { getTracer: () => ({ startSpan: () => undefined }) } as unknown as TracerProvider;
    await attach('all', provider);
    processState.spanCounts = new Map();
    expect(trace.getTracer(PG).startSpan('work')).toBeUndefined();
    expect(processState.spanCounts.size).toBe(0);
  });
});

it('the group of a kept span whose scope has no name is unnamed', async () => {
  await attach('all', new BasicTracerProvider({ spanProcessors: [keeping] }));
  start(undefined);
  expect(groupOfSpan(ended[0] as never)).toBe('unnamed');
});
