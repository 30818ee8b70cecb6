import { beforeEach, describe, expect, it } from 'vitest';
import { type CallHandler, Controller, type ExecutionContext, Get, Headers } from '@nestjs/common';
import { type BaggageEntry, context, propagation, ROOT_CONTEXT, trace } from '@opentelemetry/api';
import { W3CBaggagePropagator, W3CTraceContextPropagator, CompositePropagator } from '@opentelemetry/core';
import { extractContext, setSpanGroupSpec, SpanGroup, SpanGroupInterceptor, SpanRegistry } from 'nest-lens';
import { defer, lastValueFrom } from 'rxjs';
import { onEachPlatform } from '../../support/adapters.js';
import { type CapturedSpans, captureSpans, parentId, spanId } from '../../support/capture-spans.js';
import { captureWarnings } from '../../support/capture-warnings.js';
import { lensApp, theSpan } from '../../support/lens-app.js';

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const PRODUCER = 'b7ad6b7169203331';
const TRACEPARENT = `00-${TRACE}-${PRODUCER}-01`;

interface Message {
  headers?: object | null;
}

describe('the carrier of a @SpanGroup', () => {
  let spans: CapturedSpans;
  beforeEach(() => {
    spans = captureSpans();
    propagation.setGlobalPropagator(
      new CompositePropagator({ propagators: [new W3CTraceContextPropagator(), new W3CBaggagePropagator()] }),
    );
    SpanRegistry.register('shop', ['jobs']);
    setSpanGroupSpec('jobs');
  });

  class Consumer {
    @SpanGroup('jobs', { carrier: (message: Message) => message.headers })
    handle(_message: Message): BaggageEntry | undefined {
      trace.getTracer('test').startSpan('inside').end();
      return propagation.getActiveBaggage()?.getEntry('tenant');
    }
  }

  const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

  it.each<[string, object]>([
    ['an object', { traceparent: TRACEPARENT }],
    ['an object of bytes', { traceparent: bytes(TRACEPARENT) }],
    ['an object of lists', { traceparent: [TRACEPARENT] }],
    ['an object with other cases', { TraceParent: TRACEPARENT }],
    ['a map', new Map([['traceparent', TRACEPARENT]])],
    ['Headers', new globalThis.Headers({ traceparent: TRACEPARENT })],
  ])('N4, I8: is the parent where no span is active: %s', (_title, headers) => {
    new Consumer().handle({ headers });

    const span = spans.single('Consumer.handle');
    expect([span.spanContext().traceId, parentId(span)]).toEqual([TRACE, PRODUCER]);
    expect(span.parentSpanContext?.isRemote).toBe(true);
    expect(span.links).toEqual([]);
    expect(parentId(spans.single('inside'))).toBe(spanId(span));
  });

  it('N4: is linked where a span is active', () => {
    const outer = spans.tracer.startSpan('outer');
    context.with(trace.setSpan(ROOT_CONTEXT, outer), () =>
      new Consumer().handle({ headers: { traceparent: TRACEPARENT } }),
    );
    outer.end();

    const span = spans.single('Consumer.handle');
    expect(parentId(span)).toBe(outer.spanContext().spanId);
    expect(span.links.map(({ context: of }) => [of.traceId, of.spanId])).toEqual([[TRACE, PRODUCER]]);
  });

  it('N4: that names no trace leaves the active span the parent, without a link', () => {
    const outer = spans.tracer.startSpan('outer');
    context.with(trace.setSpan(ROOT_CONTEXT, outer), () => new Consumer().handle({}));

    const span = spans.single('Consumer.handle');
    expect([parentId(span), span.links]).toEqual([outer.spanContext().spanId, []]);
  });

  it('N4: is neither where its span is the active one already', () => {
    const headers = { traceparent: TRACEPARENT };
    context.with(extractContext(headers), () => new Consumer().handle({ headers }));

    const span = spans.single('Consumer.handle');
    expect(parentId(span)).toBe(PRODUCER);
    expect(span.links).toEqual([]);
  });

  it("N4: brings the trace alone: baggage is the application's", () => {
    const baggage = propagation.createBaggage({ tenant: { value: 'acme' } });
    const headers = { traceparent: TRACEPARENT, baggage: 'tenant=other' };
    const seen = context.with(propagation.setBaggage(ROOT_CONTEXT, baggage), () =>
      new Consumer().handle({ headers }),
    );

    expect(seen?.value).toBe('acme');
    expect(parentId(spans.single('Consumer.handle'))).toBe(PRODUCER);
  });

  it('N4: of a producer who does not sample, it records no span', () => {
    new Consumer().handle({ headers: { traceparent: `00-${TRACE}-${PRODUCER}-00` } });
    expect(spans.startedCount()).toBe(0);
  });

  const late = Promise.reject(new Error('late'));
  late.catch(() => undefined);
  const proxy = new Proxy(
    {},
    {
      get() {
        throw new Error('hands off');
      },
    },
  );

  it.each<[string, unknown]>([
    ['undefined', undefined],
    ['null', null],
    ['a string', TRACEPARENT],
    ['without a trace', { other: 'header' }],
    ['with a trace that is none', { traceparent: '00-zz-zz-01' }],
    ['a rejected promise', late],
    ['a proxy that throws', proxy],
  ])('I14: that is %s makes a root, and the call is as without it', (_title, headers) => {
    const warnings = captureWarnings();
    expect(new Consumer().handle({ headers: headers as object })).toBeUndefined();

    const span = spans.single('Consumer.handle');
    expect(parentId(span)).toBeUndefined();
    expect(span.links).toEqual([]);
    expect(warnings.codes()).toEqual([]);
  });

  it('I3, I14: runs only while the group is on; one that throws is said once, and costs the trace', () => {
    const warnings = captureWarnings();
    let calls = 0;
    class Broken {
      @SpanGroup('jobs', {
        carrier: () => {
          calls += 1;
          throw new Error('no headers');
        },
      })
      handle(): string {
        return 'handled';
      }
    }
    setSpanGroupSpec('');
    expect(new Broken().handle()).toBe('handled');
    expect(calls).toBe(0);
    setSpanGroupSpec('jobs');
    expect([new Broken().handle(), new Broken().handle()]).toEqual(['handled', 'handled']);

    expect(calls).toBe(2);
    expect(warnings.codes().filter((code) => code === 'CARRIER_FAILED')).toHaveLength(1);
    expect(spans.named('Broken.handle')).toHaveLength(2);
  });

  it('N4: on a class, it has the arguments of each method, those that a subclass adds as well', () => {
    @SpanGroup('jobs', { carrier: (message: Message) => message.headers })
    class Worker {
      first(_message: Message): void {}
      second(_message: Message): void {}
    }
    new Worker().first({ headers: { traceparent: TRACEPARENT } });
    new Worker().second({});

    expect(['Worker.first', 'Worker.second'].map((name) => parentId(spans.single(name)))).toEqual([
      PRODUCER,
      undefined,
    ]);
  });

  it('N5, N6: of a call that has its span already, it is linked: under the interceptor, and of super', async () => {
    const interceptor = new SpanGroupInterceptor();
    const execution = {
      getType: () => 'rpc',
      getClass: () => Consumer,
      getHandler: () => Consumer.prototype.handle,
    } as unknown as ExecutionContext;
    class Overriding extends Consumer {
      @SpanGroup('jobs')
      override handle(given: Message): BaggageEntry | undefined {
        return super.handle(given);
      }
    }
    for (const [headers, linked] of [
      [{ traceparent: TRACEPARENT }, [PRODUCER]],
      [undefined, []],
    ] as const) {
      spans.clear();
      const message = { headers } as Message;
      const next: CallHandler = { handle: () => defer(async () => new Consumer().handle(message)) };
      await lastValueFrom(interceptor.intercept(execution, next), { defaultValue: undefined });
      new Overriding().handle(message);

      for (const name of ['Consumer.handle', 'Overriding.handle']) {
        const span = spans.single(name);
        const links = span.links.map((link) => link.context.spanId);
        expect({ name, parent: parentId(span), links }).toEqual({ name, parent: undefined, links: linked });
      }
    }
  });
});

onEachPlatform('a carrier in an application', (platform) => {
  it("N4: of a handler's own headers joins the caller's trace without the interceptor", async () => {
    @Controller('orders')
    class OrdersController {
      @Get()
      @SpanGroup('orders', { carrier: (headers: object) => headers })
      list(@Headers() _headers: object): string {
        return 'list';
      }
    }
    const lens = await lensApp(platform).groups('orders').controllers(OrdersController).start();
    await lens.get('/orders', { headers: { traceparent: TRACEPARENT } });

    expect(theSpan(await lens.spans(), 'OrdersController.list').parentSpanContext?.spanId).toBe(PRODUCER);
  });
});
