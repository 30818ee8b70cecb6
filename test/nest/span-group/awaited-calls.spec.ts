import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ExecutionContext } from '@nestjs/common';
import { context, type Context, ROOT_CONTEXT, type Span, trace } from '@opentelemetry/api';
import { setSpanGroupSpec, SpanGroup, SpanGroupInterceptor, SpanRegistry } from 'nest-lens';
import { setImmediate } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { Subject } from 'rxjs';
import { type CapturedSpans, captureSpans, parentId, spanId } from '../../support/capture-spans.js';

class Orders {
  @SpanGroup('orders', { attributes: (id: unknown) => (typeof id === 'string' ? { 'order.id': id } : {}) })
  read(id: unknown): void {
    trace
      .getTracer('test')
      .startSpan(`work of ${String(id)}`)
      .end();
  }
}

class SpecialOrders extends Orders {
  @SpanGroup('orders')
  override read(id: unknown): void {
    super.read(id);
  }
}

/** A request that has come to the interceptor; what stands behind it may call the handler whenever it wants. */
interface BegunRequest {
  /** Calls the handler in the request's context; with a span, below that. */
  call(id: unknown, below?: Span): void;
  end(): void;
}

describe('a call that comes while requests wait for theirs under SpanGroupInterceptor', () => {
  let spans: CapturedSpans;
  let requests: BegunRequest[];
  let interceptor: SpanGroupInterceptor;
  beforeEach(() => {
    spans = captureSpans();
    requests = [];
    interceptor = new SpanGroupInterceptor();
    SpanRegistry.register('shop', ['orders']);
    setSpanGroupSpec('orders');
  });
  afterEach(endAll);

  function endAll(): void {
    for (const request of requests) request.end();
  }

  function request(outside: Context = ROOT_CONTEXT, Controller: typeof Orders = Orders): BegunRequest {
    const execution = {
      getType: () => 'rpc',
      getClass: () => Controller,
      getHandler: () => Controller.prototype.read,
    } as unknown as ExecutionContext;
    const answer = new Subject<unknown>();
    let inside = ROOT_CONTEXT;
    const handle = (): Subject<unknown> => {
      inside = context.active();
      return answer;
    };
    context.with(outside, () => interceptor.intercept(execution, { handle }).subscribe());
    const begun: BegunRequest = {
      call: (id, below) =>
        context.with(below === undefined ? inside : trace.setSpan(inside, below), () =>
          new Controller().read(id),
        ),
      end: () => answer.complete(),
    };
    requests.push(begun);
    return begun;
  }

  /** Calls the handler where nothing is known of a request. */
  function callElsewhere(id: unknown, below?: Span): void {
    context.with(below === undefined ? ROOT_CONTEXT : trace.setSpan(ROOT_CONTEXT, below), () =>
      new Orders().read(id),
    );
  }

  /** What each span of the handler says of its call, with the work below it. */
  function handlerSpans(): [id: unknown, work: string[]][] {
    endAll();
    return spans.named('Orders.read').map((span) => [
      span.attributes['order.id'],
      spans
        .all()
        .filter((work) => parentId(work) === spanId(span))
        .map(({ name }) => name),
    ]);
  }

  it("N5: elsewhere, is the waiting request's, though another request is still running", () => {
    request().call('a');
    request();
    callElsewhere('b');

    expect(handlerSpans()).toEqual([
      ['a', ['work of a']],
      ['b', ['work of b']],
    ]);
  });

  it('N5: elsewhere, while two requests wait, is said of neither and has no span', () => {
    request();
    request();
    callElsewhere('x');

    expect(handlerSpans()).toEqual([
      [undefined, []],
      [undefined, []],
    ]);
    expect(parentId(spans.single('work of x'))).toBeUndefined();
  });

  it('N5: elsewhere, with the arguments of a running request, is a further try of that one', () => {
    request().call('a');
    callElsewhere('a');

    expect(handlerSpans()).toEqual([['a', ['work of a', 'work of a']]]);
  });

  it('N5: elsewhere, with other arguments than the running request has, has a span of its own', () => {
    request().call('a');
    callElsewhere('job');

    expect(handlerSpans()).toEqual([
      ['job', ['work of job']],
      ['a', ['work of a']],
    ]);
  });

  it('N5: below a span that has ended, with the arguments of a running request, has a span of its own', () => {
    request().call('a');
    const late = spans.tracer.startSpan('late');
    late.end();
    callElsewhere('a', late);

    expect(handlerSpans()).toEqual([
      ['a', ['work of a']],
      ['a', ['work of a']],
    ]);
    expect(spans.named('Orders.read').map(parentId)).toEqual([late.spanContext().spanId, undefined]);
  });

  it('N5: is a further try, whatever its arguments, once the only other request has ended without a call', () => {
    request().end();
    const tried = request();
    tried.call('a');
    tried.call('made anew');

    expect(handlerSpans()).toEqual([
      [undefined, []],
      ['made anew', ['work of a', 'work of made anew']],
    ]);
  });

  it("N5: in another request's context, has its work below what that request was made below", () => {
    const outer = spans.tracer.startSpan('outer');
    const first = request(trace.setSpan(ROOT_CONTEXT, outer));
    first.call('a');
    request();
    first.call('b');
    outer.end();

    expect(handlerSpans()).toEqual([
      ['a', ['work of a']],
      [undefined, []],
    ]);
    expect(parentId(spans.single('work of b'))).toBe(outer.spanContext().spanId);
  });

  it("N5: in another request's context, has its work below the span that it was made in", () => {
    const first = request();
    first.call('a');
    request();
    const batch = spans.tracer.startSpan('batch');
    first.call('b', batch);
    batch.end();

    expect(parentId(spans.single('work of b'))).toBe(batch.spanContext().spanId);
  });

  it("N5: in another request's context, has no span for the method that it overrides", () => {
    const first = request(ROOT_CONTEXT, SpecialOrders);
    first.call('a');
    request(ROOT_CONTEXT, SpecialOrders);
    const batch = spans.tracer.startSpan('batch');
    first.call('b', batch);
    batch.end();
    endAll();

    expect(spans.named('Orders.read')).toEqual([]);
    expect(spans.named('SpecialOrders.read')).toHaveLength(2);
  });

  const begin = (): void => request().call('another');
  const beginAndEnd = (): void => request().end();
  it.each<[string, number, () => void, isRemembered: boolean]>([
    ["is the waiting request's, though 999 have begun since and run", 999, begin, true],
    ["is the waiting request's, though a thousand have begun since and ended", 1_000, beginAndEnd, true],
    ['is of no request, if a thousand have begun since the waiting one and run', 1_000, begin, false],
  ])('N5: elsewhere, %s', (_title, count, others, isRemembered) => {
    request();
    for (let other = 0; other < count; other++) others();
    callElsewhere('a');

    const ofItself = spans.named('Orders.read').filter(({ attributes }) => attributes['order.id'] === 'a');
    expect(ofItself).toHaveLength(isRemembered ? 0 : 1);
    requests[0]!.end();
    expect(spans.named('Orders.read').at(-1)!.attributes['order.id']).toBe(isRemembered ? 'a' : undefined);
  });

  it('N5: lets go of what it was given when its span ends', async () => {
    setFlagsFromString('--expose-gc');
    const collectGarbage = runInNewContext('gc') as () => void;
    const given = Array.from({ length: 20 }, () => {
      const id = {};
      request().call(id);
      return new WeakRef(id);
    });
    await setImmediate();
    collectGarbage();
    expect(given.filter((id) => id.deref() === undefined)).toEqual([]);

    endAll();
    await setImmediate();
    collectGarbage();
    // The last ones may still be on the stack of the engine.
    expect(given.filter((id) => id.deref() !== undefined).length).toBeLessThan(5);
  });
});
