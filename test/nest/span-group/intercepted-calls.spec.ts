import { beforeEach, describe, expect, it } from 'vitest';
import type { CallHandler, ExecutionContext } from '@nestjs/common';
import { context, propagation, ROOT_CONTEXT, trace } from '@opentelemetry/api';
import { W3CTraceContextPropagator } from '@opentelemetry/core';
import {
  clearSpanGroupOverride,
  overrideSpanGroups,
  setSpanGroupSpec,
  SpanGroup,
  SpanGroupInterceptor,
  SpanRegistry,
} from 'nest-lens';
import { lastValueFrom, type Observable, of } from 'rxjs';
import { type CapturedSpans, captureSpans, parentId } from '../../support/capture-spans.js';
import { captureWarnings, type CapturedWarnings } from '../../support/capture-warnings.js';

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const CALLER = 'b7ad6b7169203331';
const TRACEPARENT = `00-${TRACE}-${CALLER}-01`;

class Orders {
  @SpanGroup('orders')
  read(): void {}
}

function executionOf(type: string, ...args: unknown[]): ExecutionContext {
  return {
    getType: () => type,
    getClass: () => Orders,
    getHandler: () => Orders.prototype.read,
    getArgByIndex: (index: number) => args[index],
  } as unknown as ExecutionContext;
}

describe('the span of SpanGroupInterceptor', () => {
  let spans: CapturedSpans;
  let warnings: CapturedWarnings;
  let interceptor: SpanGroupInterceptor;
  beforeEach(() => {
    spans = captureSpans();
    warnings = captureWarnings();
    propagation.setGlobalPropagator(new W3CTraceContextPropagator());
    interceptor = new SpanGroupInterceptor();
    SpanRegistry.register('shop', ['orders']);
    setSpanGroupSpec('orders');
  });

  async function runWith(execution: ExecutionContext): Promise<void> {
    await lastValueFrom(interceptor.intercept(execution, { handle: () => of('read') }));
  }

  const fromCaller = { headers: { traceparent: TRACEPARENT } };
  it.each<[string, string, unknown, string | undefined]>([
    ['continues the trace that the headers of its HTTP request name', 'http', fromCaller, CALLER],
    ['is a root if the headers name no trace', 'http', { headers: { accept: '*/*' } }, undefined],
    ['is a root if the request has no headers', 'http', {}, undefined],
    ['is a root if the headers are null', 'http', { headers: null }, undefined],
    ['is a root if the headers are a text', 'http', { headers: `traceparent: ${TRACEPARENT}` }, undefined],
    ['is a root if there is no request', 'http', undefined, undefined],
    ['is a root for a message, whatever its first argument is like', 'rpc', fromCaller, undefined],
  ])('N6, I8: %s', async (_title, type, first, parent) => {
    await runWith(executionOf(type, first));

    const span = spans.single();
    expect([parentId(span), span.spanContext().traceId === TRACE]).toEqual([parent, parent !== undefined]);
    expect(warnings.codes()).toEqual([]);
  });

  it('N6, I8: is below the active span, whatever the headers name', async () => {
    const server = spans.tracer.startSpan('GET /orders');
    await context.with(trace.setSpan(ROOT_CONTEXT, server), () => runWith(executionOf('http', fromCaller)));

    expect(parentId(spans.single('Orders.read'))).toBe(server.spanContext().spanId);
    server.end();
  });

  it('H12: lacks the trace of the caller if the propagator throws, and one warning says so', async () => {
    const failure = new Error('a bad header');
    propagation.disable();
    propagation.setGlobalPropagator({
      inject: () => undefined,
      extract: () => {
        throw failure;
      },
      fields: () => ['traceparent'],
    });
    await runWith(executionOf('http', fromCaller));
    await runWith(executionOf('http', fromCaller));

    expect(spans.all().map(parentId)).toEqual([undefined, undefined]);
    expect(warnings.all.map(({ code, details }) => [code, details])).toEqual([
      ['SPAN_FAILED', { span: 'Orders.read', error: failure }],
    ]);
  });

  const failure = new Error('failure');
  it.each<[string, CallHandler['handle']]>([
    ['gives a value', () => 'value' as unknown as Observable<unknown>],
    ['gives a promise', () => Promise.resolve('value') as unknown as Observable<unknown>],
    ['gives a promise that rejects', () => Promise.reject(failure) as unknown as Observable<unknown>],
    [
      'throws',
      () => {
        throw failure;
      },
    ],
  ])('N5: is one for each try of an outer interceptor, if handle() %s', async (_title, handle) => {
    const execution = executionOf('rpc');
    const tryOnce = async (): Promise<unknown> => interceptor.intercept(execution, { handle });
    await tryOnce().catch(() => undefined);
    await tryOnce().catch(() => undefined);

    expect(spans.names()).toEqual(['Orders.read', 'Orders.read']);
  });

  it('I9: covers one subscription; a further one has a span of its own, while the group is on', async () => {
    let handled = 0;
    const handle = (): Observable<number> => of(++handled);
    const result = interceptor.intercept(executionOf('rpc'), { handle });
    const seen = [await lastValueFrom(result), await lastValueFrom(result)];
    expect([seen, spans.names()]).toEqual([
      [1, 2],
      ['Orders.read', 'Orders.read'],
    ]);

    overrideSpanGroups('');
    expect(await lastValueFrom(result)).toBe(3);
    expect(spans.all()).toHaveLength(2);
    clearSpanGroupOverride();
    expect(await lastValueFrom(result)).toBe(4);
    expect(spans.all()).toHaveLength(3);
  });
});
