// Tracers of the SDK, asked as instrumentations ask them. What real instrumentations make of it is in real-instrumentations.spec.ts.
import { beforeEach, describe, expect, it } from 'vitest';
import { context, propagation, ROOT_CONTEXT, type Span, SpanKind, trace } from '@opentelemetry/api';
import type { ReadableSpan } from '@opentelemetry/sdk-trace-base';
import {
  enabledSpanGroups,
  managedSpan,
  type NestLensConfig,
  overrideSpanGroups,
  setSpanGroupSpec,
  SpanRegistry,
  type SetupOptions,
  type TelemetryHandle,
} from 'nest-lens/core';
import { captureWarnings } from '../../support/capture-warnings.js';
import { setUpForTest } from '../../support/live-telemetry.js';
import { pgInstrumentation } from './pg-instrumentation.js';

const PG = '@opentelemetry/instrumentation-pg';
const HTTP = '@opentelemetry/instrumentation-http';
const EXPRESS = '@opentelemetry/instrumentation-express';

/** In the order of their ends. */
const ended: ReadableSpan[] = [];
beforeEach(() => {
  captureWarnings(); // none on the console
  ended.length = 0;
});

const nothing = {
  onStart: () => undefined,
  onEnd: () => undefined,
  forceFlush: () => Promise.resolve(),
  shutdown: () => Promise.resolve(),
};
const keeping = { ...nothing, onEnd: (span: ReadableSpan) => void ended.push(span) };

function setUp(
  spanGroups: string,
  instrumentationGroups: SetupOptions['instrumentationGroups'] = true,
  config: Partial<NestLensConfig> = {},
): Promise<TelemetryHandle> {
  return setUpForTest({ spanGroups, ...config }, { spanProcessors: [keeping], instrumentationGroups });
}

/** A span of a scope around some work. */
function around<T>(scope: string, name: string, work: (span: Span) => T, kind = SpanKind.INTERNAL): T {
  const span = trace.getTracer(scope, '1.2.3').startSpan(name, { kind });
  const result = context.with(trace.setSpan(context.active(), span), () => work(span));
  span.end();
  return result;
}

/** Each span as `parent > name`. */
function tree(): string[] {
  const names = new Map(ended.map((span) => [span.spanContext().spanId, span.name]));
  return ended
    .map((span) => {
      const parent = span.parentSpanContext?.spanId;
      return `${parent === undefined ? '' : (names.get(parent) ?? 'orphan')} > ${span.name}`;
    })
    .sort();
}

describe('without the option', () => {
  it('spans of instrumentations flow whatever the spec says, and nothing is registered', async () => {
    await setUp('', false);
    around(PG, 'query', () => undefined);
    expect(tree()).toEqual([' > query']);
    expect(SpanRegistry.namespaces()).toEqual([]);
    expect(Object.hasOwn(trace.getTracer(PG), 'startSpan')).toBe(false);
  });
});

describe('a group that is off', () => {
  it('makes no span, and the children attach to the nearest span that is on', async () => {
    await setUp('http_server,pg');
    around(
      HTTP,
      'GET',
      () => around(EXPRESS, 'middleware', () => around(PG, 'query', () => undefined, SpanKind.CLIENT)),
      SpanKind.SERVER,
    );
    expect(tree()).toEqual([' > GET', 'GET > query']);
  });

  it('leaves the nearest span that is on the active one', async () => {
    await setUp('http_server');
    around(
      HTTP,
      'GET',
      (server) =>
        around(EXPRESS, 'handler', (off) => {
          expect(off.isRecording()).toBe(false);
          expect(trace.getActiveSpan()).toBe(server);
          trace.getActiveSpan()!.setAttribute('user.id', 7);
          expect(context.bind(trace.setSpan(context.active(), off), () => trace.getActiveSpan())()).toBe(
            server,
          );
        }),
      SpanKind.SERVER,
    );
    expect(ended[0]!.attributes['user.id']).toBe(7);
  });

  it('leaves no active span where none is on, so that requireParentSpan finds none', async () => {
    await setUp('');
    around(HTTP, 'GET', () => expect(trace.getActiveSpan()).toBeUndefined(), SpanKind.SERVER);
  });

  it("lets the caller's trace go on where the server span itself is off", async () => {
    await setUp('pg');
    const caller = { traceId: '0af7651916cd43dd8448eb211c80319c', spanId: 'b7ad6b7169203331', traceFlags: 1 };
    const remote = trace.setSpanContext(ROOT_CONTEXT, { ...caller, isRemote: true });
    context.with(remote, () =>
      around(HTTP, 'GET', (off) => {
        const headers: Record<string, string> = {};
        propagation.inject(trace.setSpan(context.active(), off), headers);
        expect(headers['traceparent']).toBe(`00-${caller.traceId}-${caller.spanId}-01`);
        around(PG, 'query', () => undefined);
      }),
    );
    const [query] = ended;
    expect(query!.spanContext().traceId).toBe(caller.traceId);
    expect(query!.parentSpanContext?.spanId).toBe(caller.spanId);
  });

  it('keeps baggage, and everything else in the context', async () => {
    await setUp('');
    const baggage = propagation.createBaggage({ tenant: { value: 'acme' } });
    context.with(propagation.setBaggage(context.active(), baggage), () =>
      around(HTTP, 'GET', () => {
        expect(propagation.getActiveBaggage()?.getEntry('tenant')?.value).toBe('acme');
      }),
    );
  });

  it('enters the context that was active, where nothing else has been put into it', async () => {
    await setUp('http_server');
    const enterOff = (scope: string, key?: symbol): ReturnType<typeof context.active> => {
      const off = trace.getTracer(scope).startSpan('off');
      const entered = trace.setSpan(context.active(), off);
      return context.with(key === undefined ? entered : entered.setValue(key, 1), () => context.active());
    };
    const key = Symbol('of an instrumentation');
    const other = Symbol('of the application');
    expect(enterOff(PG).getValue(key)).toBeUndefined();
    context.with(context.active().setValue(other, 2), () =>
      around(
        HTTP,
        'GET',
        (server) => {
          const active = context.active();
          expect(enterOff(PG)).toBe(active);
          const inside = enterOff(PG, key);
          expect([inside.getValue(key), inside.getValue(other)]).toEqual([1, 2]);
          expect(trace.getSpan(inside)).toBe(server);
          // One that has less than the active one is no stranger either.
          const off = trace.getTracer(PG).startSpan('off');
          const less = trace.setSpan(context.active().deleteValue(other), off);
          context.with(less, () => expect(context.active().getValue(other)).toBeUndefined());
          const changed = trace.setSpan(context.active().setValue(other, 3), off);
          context.with(changed, () => expect(context.active().getValue(other)).toBe(3));
        },
        SpanKind.SERVER,
      ),
    );
  });

  it('begins a new trace below a span that was asked for as a root', async () => {
    await setUp('http_server,pg');
    around(
      HTTP,
      'GET',
      () => {
        const off = trace.getTracer(EXPRESS).startSpan('job', { root: true });
        context.with(trace.setSpan(context.active(), off), () => {
          expect(trace.getActiveSpan()).toBeUndefined();
          around(PG, 'query', () => undefined);
        });
      },
      SpanKind.SERVER,
    );
    expect(tree()).toEqual([' > GET', ' > query']);
  });

  it('is an object of its own each time', async () => {
    await setUp('');
    const tracer = trace.getTracer(PG);
    expect(tracer.startSpan('a')).not.toBe(tracer.startSpan('a'));
  });

  it('answers everything that a span is asked, and nothing of it goes anywhere', async () => {
    await setUp('');
    const span = trace.getTracer(PG).startSpan('a');
    span
      .setAttribute('a', 1)
      .setAttributes({ a: 1 })
      .addEvent('e')
      .addLink({ context: span.spanContext() })
      .addLinks([])
      .setStatus({ code: 2 })
      .updateName('b');
    span.recordException(new Error('boom'));
    span.end();
    span.end();
    expect(ended).toEqual([]);
  });

  it('asks no sampler and no processor', async () => {
    let started = 0;
    const counting = { ...nothing, onStart: () => void started++ };
    await setUpForTest({ spanGroups: '' }, { spanProcessors: [counting], instrumentationGroups: true });
    around(PG, 'query', () => undefined);
    expect(started).toBe(0);
    overrideSpanGroups('pg');
    around(PG, 'query', () => undefined);
    expect(started).toBe(1);
  });

  it('works with startActiveSpan, in each of its forms', async () => {
    await setUp('express');
    const tracer = trace.getTracer(PG);
    around(EXPRESS, 'handler', (handler) => {
      for (const inside of [
        tracer.startActiveSpan('a', () => trace.getActiveSpan()),
        tracer.startActiveSpan('a', {}, () => trace.getActiveSpan()),
        tracer.startActiveSpan('a', {}, context.active(), () => trace.getActiveSpan()),
      ]) {
        expect(inside).toBe(handler);
      }
    });
    expect(tree()).toEqual([' > handler']);
  });

  it('gives a span that is made from an explicit context the nearest span that is on, processors included', async () => {
    const parents: unknown[] = [];
    const looking = {
      ...nothing,
      onStart: (_span: Span, parent: typeof ROOT_CONTEXT) => void parents.push(trace.getSpan(parent)),
    };
    await setUpForTest(
      { spanGroups: 'http_server,pg' },
      { spanProcessors: [looking], instrumentationGroups: true },
    );
    around(
      HTTP,
      'GET',
      (server) => {
        const off = trace.getTracer(EXPRESS).startSpan('middleware');
        trace.getTracer(PG).startSpan('query', {}, trace.setSpan(context.active(), off));
        expect(parents).toEqual([undefined, server]);
      },
      SpanKind.SERVER,
    );
  });
});

describe('a group that is on', () => {
  it('gives what the tracer gives: no attribute, no wrapper', async () => {
    const handle = await setUp('pg');
    const gated = around(PG, 'query', (span) => span);
    await handle.shutdown();
    await setUp('', false);
    const ungated = around(PG, 'query', (span) => span);
    expect(Object.getPrototypeOf(gated)).toBe(Object.getPrototypeOf(ungated));
    expect((gated as unknown as ReadableSpan).attributes).toEqual({});
  });
});

describe('the groups', () => {
  it.each([
    [HTTP, SpanKind.SERVER, 'http_server', ['default', 'http', 'per_request']],
    [HTTP, SpanKind.CLIENT, 'http_client', ['http', 'per_request']],
    [
      '@opentelemetry/instrumentation-grpc',
      SpanKind.SERVER,
      'grpc_server',
      ['default', 'grpc', 'per_request'],
    ],
    ['@opentelemetry/instrumentation-grpc', SpanKind.CLIENT, 'grpc_client', ['grpc', 'per_request']],
    [
      '@opentelemetry/instrumentation-kafkajs',
      SpanKind.CONSUMER,
      'kafkajs_consumer',
      ['default', 'kafkajs', 'per_request'],
    ],
    [
      '@opentelemetry/instrumentation-kafkajs',
      SpanKind.CLIENT,
      'kafkajs_consumer',
      ['default', 'kafkajs', 'per_request'],
    ],
    [
      '@opentelemetry/instrumentation-kafkajs',
      SpanKind.PRODUCER,
      'kafkajs_producer',
      ['kafkajs', 'per_request'],
    ],
    [
      '@opentelemetry/instrumentation-socket.io',
      SpanKind.CONSUMER,
      'socket_io_consumer',
      ['default', 'per_request', 'socket_io'],
    ],
    ['@opentelemetry/instrumentation-aws-sdk', SpanKind.CLIENT, 'aws_sdk_client', ['aws_sdk']],
    ['@opentelemetry/instrumentation-aws-lambda', SpanKind.SERVER, 'aws_lambda', ['default', 'per_request']],
    [EXPRESS, SpanKind.INTERNAL, 'express', ['per_request']],
    ['@fastify/otel', SpanKind.INTERNAL, 'fastify', ['per_request']],
    ['@opentelemetry/instrumentation-nestjs-core', SpanKind.INTERNAL, 'nestjs_core', ['per_request']],
    ['@opentelemetry/instrumentation-undici', SpanKind.CLIENT, 'undici', ['per_request']],
    [PG, SpanKind.CLIENT, 'pg', ['databases']],
    ['prisma', SpanKind.INTERNAL, 'prisma', ['databases']],
    ['@opentelemetry/instrumentation-ioredis', SpanKind.CLIENT, 'ioredis', ['caches']],
    ['@opentelemetry/instrumentation-dns', SpanKind.INTERNAL, 'dns', []],
    ['my-lib', SpanKind.CLIENT, 'my_lib', []],
    // What nobody knows here and comes into the process
    ['my-server', SpanKind.SERVER, 'my_server', ['default', 'per_request']],
    ['my-queue', SpanKind.CONSUMER, 'my_queue_consumer', ['default', 'my_queue', 'per_request']],
  ])('a span of %s and kind %i is in %s, which is in %j', async (scope, kind, group, presets) => {
    await setUp('');
    around(scope, 'span', () => undefined, kind);
    const found = [...SpanRegistry.presets()]
      .filter(([preset, members]) => preset !== 'all' && members.has(group))
      .map(([preset]) => preset);
    expect(SpanRegistry.groups()).toContain(group);
    expect(found.sort()).toEqual(presets);
    setSpanGroupSpec(group);
    around(scope, 'on', () => undefined, kind);
    expect(tree()).toEqual([' > on']);
  });

  it("GraphQL's spans for each field are a group of their own, in no preset", async () => {
    const scope = '@opentelemetry/instrumentation-graphql';
    await setUp('per_request');
    const query = (): void =>
      around(scope, 'graphql.execute', () => around(scope, 'graphql.resolve orders.0.id', () => undefined));
    query();
    query();
    expect(tree()).toEqual([' > graphql.execute', ' > graphql.execute']);
    ended.length = 0;
    setSpanGroupSpec('graphql_resolve');
    query();
    expect(tree()).toEqual([' > graphql.resolve orders.0.id']);
  });

  it('a scope that nobody knows is split as soon as it turns out to work in both directions; its bare name goes on to mean both', async () => {
    await setUp('my_rpc');
    around('my-rpc', 'in', () => undefined, SpanKind.SERVER);
    expect(enabledSpanGroups()).toEqual(new Set(['my_rpc']));
    around('my-rpc', 'out', () => undefined, SpanKind.CLIENT);
    expect(enabledSpanGroups()).toEqual(new Set(['my_rpc_client', 'my_rpc_server']));
    setSpanGroupSpec('my_rpc_server');
    around('my-rpc', 'in again', () => undefined, SpanKind.SERVER);
    around('my-rpc', 'out again', () => undefined, SpanKind.CLIENT);
    expect(tree()).toEqual([' > in', ' > in again', ' > out']);
  });

  it('register silently, whenever they come', async () => {
    const warnings = captureWarnings();
    SpanRegistry.register('shop', ['orders'], { default: ['orders'] });
    await setUp('default,pg');
    around(HTTP, 'GET', () => around(PG, 'query', () => undefined), SpanKind.SERVER);
    expect(
      warnings.codes().filter((code) => code !== 'SPEC_UNRESOLVED' && code !== 'SPEC_SELECTED_NOTHING'),
    ).toEqual([]);
    expect(warnings.codes()).not.toContain('LATE_REGISTRATION');
    expect(SpanRegistry.namespaces()).toEqual(['instrumentation', 'shop']);
  });

  it('those of given instrumentations are there before the spec is checked', async () => {
    const warnings = captureWarnings();
    await setUpForTest(
      { spanGroups: 'pg' },
      { instrumentations: [pgInstrumentation()], instrumentationGroups: true },
    );
    expect(warnings.codes()).toEqual([]);
    expect(enabledSpanGroups()).toEqual(new Set(['pg']));
  });

  it('a library that makes a scope for each request fills no registry', async () => {
    await setUp('other_scopes');
    for (let request = 0; request < 300; request++) around(`request-${request}`, 'span', () => undefined);
    expect(SpanRegistry.groups().size).toBe(201);
    expect(ended.length).toBeGreaterThanOrEqual(100);
  });
});

describe("NestLens's own spans", () => {
  it('are behind their own gate only, also with a tracer that the site was given', async () => {
    await setUp('orders');
    SpanRegistry.register('shop', ['orders']);
    managedSpan('orders', 'own', () => undefined);
    managedSpan('orders', 'given', { tracer: trace.getTracer('my-tracer') }, () => undefined);
    expect(tree()).toEqual([' > given', ' > own']);
    expect(SpanRegistry.groups()).not.toContain('my_tracer');
  });

  it('attach to the nearest span that is on, and are what instrumentations attach to', async () => {
    await setUp('orders,pg,http_server');
    SpanRegistry.register('shop', ['orders']);
    around(
      HTTP,
      'GET',
      () =>
        around(EXPRESS, 'handler', () =>
          managedSpan('orders', 'own', () =>
            around(EXPRESS, 'inner', () => around(PG, 'query', () => undefined)),
          ),
        ),
      SpanKind.SERVER,
    );
    expect(tree()).toEqual([' > GET', 'GET > own', 'own > query']);
  });
});
