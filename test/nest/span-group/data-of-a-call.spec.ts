import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { type ExecutionContext, Get, SetMetadata } from '@nestjs/common';
import { context, propagation, ROOT_CONTEXT, type Span, trace } from '@opentelemetry/api';
import { W3CTraceContextPropagator } from '@opentelemetry/core';
import { NoSpanGroup, setSpanGroupSpec, SpanGroup, SpanGroupInterceptor, SpanRegistry } from 'nest-lens';
import { setImmediate } from 'node:timers/promises';
import { lastValueFrom, of } from 'rxjs';
import { type CapturedSpans, captureSpans } from '../../support/capture-spans.js';
import { type CapturedWarnings, captureWarnings } from '../../support/capture-warnings.js';

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const PRODUCER = 'b7ad6b7169203331';

interface Circumstances {
  /** That of the context. */
  readonly type: string | undefined;
  /** What happens to the span before the handler gets its arguments. */
  readonly meanwhile?: (span: Span) => void;
}

type Handlers = Record<string, (...args: never[]) => unknown>;

describe('the span that SpanGroupInterceptor makes for a handler', () => {
  let spans: CapturedSpans;
  let warnings: CapturedWarnings;
  beforeEach(() => {
    spans = captureSpans();
    warnings = captureWarnings();
    propagation.setGlobalPropagator(new W3CTraceContextPropagator());
    SpanRegistry.register('shop', ['orders', 'base', 'null']);
    setSpanGroupSpec('all');
  });

  /** Calls a handler as Nest does. */
  async function call(
    Class: new () => object,
    key: string | symbol,
    args: unknown[] = [],
    { type, meanwhile }: Circumstances = { type: 'rpc' },
  ): Promise<void> {
    const handler = (Class.prototype as Handlers)[key as string]!;
    const execution = {
      ...(type === undefined ? {} : { getType: () => type }),
      getClass: () => Class,
      getHandler: () => handler,
      getArgByIndex: () => undefined,
    } as unknown as ExecutionContext;
    const handle = () => {
      meanwhile?.(trace.getActiveSpan()!);
      return of(handler.apply(new Class(), args as never[]));
    };
    await lastValueFrom(new SpanGroupInterceptor().intercept(execution, { handle }));
  }

  class Orders {
    @SpanGroup('orders', {
      attributes: (id: string) => {
        computed.push(id);
        return { 'order.id': id, 'nestlens.group': 'another' };
      },
      carrier: (_id: string, headers: object) => {
        read.push(headers);
        return headers;
      },
    })
    read(_id: string, _headers?: object): string {
      return 'read';
    }

    @SpanGroup('orders')
    plain(): string {
      return 'plain';
    }

    @SpanGroup('orders', { name: 'orders.renamed' })
    named(): string {
      return 'named';
    }
  }
  const computed: unknown[] = [];
  const read: unknown[] = [];
  beforeEach(() => {
    computed.length = 0;
    read.length = 0;
  });

  const headers = { traceparent: `00-${TRACE}-${PRODUCER}-01` };

  it('N6: gets attributes and link of the arguments, and keeps its group', async () => {
    await call(Orders, 'read', ['a', headers]);

    const span = spans.single('Orders.read');
    expect(span.attributes).toMatchObject({ 'order.id': 'a', 'nestlens.group': 'orders' });
    expect(span.links.map((link) => link.context.spanId)).toEqual([PRODUCER]);
    expect(warnings.codes()).toEqual([]);
  });

  it('I3: computes neither, if the span has ended or records nothing', async () => {
    await call(Orders, 'read', ['a', headers], { type: 'rpc', meanwhile: (span) => span.end() });
    const notSampled = trace.wrapSpanContext({ traceId: TRACE, spanId: PRODUCER, traceFlags: 0 });
    await context.with(trace.setSpan(ROOT_CONTEXT, notSampled), () => call(Orders, 'read', ['b', headers]));

    expect([computed, read]).toEqual([[], []]);
    expect(spans.single('Orders.read').attributes).not.toHaveProperty(['order.id']);
  });

  it('H12, I14: lacks them if the SDK throws; one warning says so, and the call is as without it', async () => {
    const failure = new Error('setAttributes');
    await call(Orders, 'read', ['a'], {
      type: 'rpc',
      meanwhile(span) {
        span.setAttributes = () => {
          throw failure;
        };
      },
    });

    expect(spans.single('Orders.read').attributes).not.toHaveProperty(['order.id']);
    expect(warnings.single('SPAN_FAILED').details).toEqual({ span: 'Orders.read', error: failure });
  });

  it.each([undefined, null, 'text'])(
    'I14: has no link, and nothing is said, if the carrier is %s',
    async (carrier) => {
      await call(Orders, 'read', ['a', carrier]);

      expect(read).toEqual([carrier]);
      expect(spans.single('Orders.read').links).toEqual([]);
      expect(warnings.codes()).toEqual([]);
    },
  );

  it('I14: has no link if the carrier is a promise, whose rejection stays without effect', async () => {
    const unhandled: unknown[] = [];
    const note = (reason: unknown): void => void unhandled.push(reason);
    process.on('unhandledRejection', note);
    onTestFinished(() => void process.off('unhandledRejection', note));
    await call(Orders, 'read', ['a', Promise.reject(new Error('late'))]);
    await setImmediate();

    expect(unhandled).toEqual([]);
    expect(spans.single('Orders.read').links).toEqual([]);
  });

  it('N6: keeps the group of the overriding method, if that has called super', async () => {
    class Special extends Orders {
      @SpanGroup('base')
      override read(id: string): string {
        return super.read(id);
      }
    }
    new Special().read('a');

    expect(spans.single().attributes).toMatchObject({ 'order.id': 'a', 'nestlens.group': 'base' });
  });

  const handler = { 'nestjs.controller': 'Orders', 'nestjs.callback': 'plain' };
  it.each<[string, string | undefined, object]>([
    ['names the handler and the type rpc of its context', 'rpc', { ...handler, 'nestjs.type': 'rpc' }],
    ['names the handler and the type http of its context', 'http', { ...handler, 'nestjs.type': 'http' }],
    ['names no handler, if the context cannot tell its type', undefined, {}],
  ])('I10: %s', async (_title, type, attributes) => {
    await call(Orders, 'plain', [], { type });

    expect(spans.single().attributes).toEqual({
      'nestlens.group': 'orders',
      'code.function.name': 'Orders.plain',
      ...attributes,
    });
    expect(warnings.codes()).toEqual([]);
  });

  it('I10: names no type without the interceptor, if the handler serves requests and messages', () => {
    class Serving {
      @Get()
      @SetMetadata('microservices:pattern', ['orders.serve'])
      @SetMetadata('microservices:handler_type', 1)
      @SpanGroup('orders')
      serve(): void {}
    }
    new Serving().serve();

    const { attributes } = spans.single('Serving.serve');
    expect(attributes['nestjs.callback']).toBe('serve');
    expect(attributes).not.toHaveProperty(['nestjs.type']);
    expect(warnings.codes()).toEqual([]);
  });

  const KEY = Symbol('by symbol');
  @SpanGroup('base', { name: 'base' })
  class Base {}
  /** It has no gates, because no application has booted with it. */
  class Derived extends Base {
    own(): string {
      return 'own';
    }

    @SpanGroup('orders', { name: 'named' })
    named(): string {
      return 'named';
    }

    @SpanGroup('orders')
    [KEY](): string {
      return 'by symbol';
    }
  }
  it.each<[string, string | symbol, name: string, group: string]>([
    ['the name that its class is given, without a gate too', 'own', 'base.own', 'base'],
    ['the name that it is given itself', 'named', 'named', 'orders'],
    ['the symbol that it is found by', KEY, 'Derived.Symbol(by symbol)', 'orders'],
  ])('N4, N6: has %s', async (_title, key, name, group) => {
    await call(Derived, key);

    expect(spans.names()).toEqual([name]);
    expect(spans.single().attributes['nestlens.group']).toBe(group);
  });

  it('N6: is missing if a decorator has taken the handler, or its class, out of the group', async () => {
    @NoSpanGroup()
    class Quiet extends Derived {
      health(): string {
        return 'up';
      }
    }
    class Partly extends Derived {
      @NoSpanGroup()
      health(): string {
        return 'up';
      }
    }
    await call(Quiet, 'health');
    await call(Partly, 'health');

    expect(spans.startedCount()).toBe(0);
  });
});
