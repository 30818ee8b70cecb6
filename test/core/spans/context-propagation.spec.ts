import { Metadata } from '@grpc/grpc-js';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { headers as natsHeaders } from '@nats-io/nats-core';
import { context, propagation, trace } from '@opentelemetry/api';
import { CompositePropagator, W3CBaggagePropagator, W3CTraceContextPropagator } from '@opentelemetry/core';
import { extractContext, injectContext, managedSpan, setEnabledSpanGroups, withSpan } from 'nest-lens/core';
import { CARRIER_GETTER } from '../../../src/core/spans/carrier.js';
import { captureSpans, type CapturedSpans, parentId, spanId } from '../../support/capture-spans.js';
import { spanIdPropagator } from '../../support/span-id-propagator.js';

let spans: CapturedSpans;
beforeEach(() => {
  spans = captureSpans();
});
const on = (): void => setEnabledSpanGroups(['orders']);

describe('injectContext and extractContext', () => {
  it('I8: inject writes the active context with the global propagator', () => {
    propagation.setGlobalPropagator(spanIdPropagator);
    const carrier: Record<string, string> = { kept: 'yes' };
    withSpan('outgoing', () => injectContext(carrier));
    expect(carrier).toEqual({ kept: 'yes', 'x-span': spanId(spans.single('outgoing')) });
  });

  it('I8: extract reads a context with the global propagator, under which spans continue the trace', () => {
    propagation.setGlobalPropagator(spanIdPropagator);
    on();
    const incoming = extractContext({ 'x-span': 'b'.repeat(16) });
    context.with(incoming, () => managedSpan('orders', 'incoming', () => undefined));
    const span = spans.single('incoming');
    expect([parentId(span), span.spanContext().traceId]).toEqual(['b'.repeat(16), 'a'.repeat(32)]);
  });

  it('I8: without a propagator both do nothing', () => {
    const carrier: Record<string, string> = {};
    withSpan('outgoing', () => injectContext(carrier));
    expect(carrier).toEqual({});
    expect(trace.getSpanContext(extractContext({ 'x-span': 'b'.repeat(16) }))).toBeUndefined();
  });
});

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const CALLER = 'b7ad6b7169203331';
const TRACEPARENT = `00-${TRACE}-${CALLER}-01`;
const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

/** Headers as NATS has them, filled by whoever sent them. */
function nats(name: string, ...values: string[]) {
  const headers = natsHeaders();
  for (const value of values) headers.append(name, value);
  return headers;
}

describe('carriers of brokers', () => {
  beforeEach(() => {
    const propagators = [new W3CTraceContextPropagator(), new W3CBaggagePropagator()];
    propagation.setGlobalPropagator(new CompositePropagator({ propagators }));
  });

  it.each<[string, () => object, (carrier: any) => unknown]>([
    ['a plain object', () => ({ kept: 1 }), (carrier) => carrier.traceparent],
    ['an object without a prototype', () => Object.create(null) as object, (carrier) => carrier.traceparent],
    ['a Map', () => new Map(), (carrier) => carrier.get('traceparent')],
    ['Headers', () => new Headers(), (carrier) => carrier.get('traceparent')],
    ["NATS's MsgHdrs", () => natsHeaders(), (carrier) => carrier.get('traceparent')],
    ["gRPC's Metadata", () => new Metadata(), (carrier) => carrier.get('traceparent')[0]],
  ])('I8: %s takes the context of the sender, and gives it to the receiver', (_kind, make, read) => {
    const carrier = make();
    const sent = withSpan('send', (span) => {
      injectContext(carrier);
      return span.spanContext();
    });
    expect(read(carrier)).toBe(`00-${sent.traceId}-${sent.spanId}-01`);
    expect(trace.getSpanContext(extractContext(carrier))).toMatchObject({
      traceId: sent.traceId,
      spanId: sent.spanId,
      isRemote: true,
    });
  });

  it.each<[string, object]>([
    ['a Buffer, as Kafka has it', { traceparent: Buffer.from(TRACEPARENT) }],
    ['bytes', { traceparent: bytes(TRACEPARENT) }],
    [
      'a part of a larger buffer',
      { traceparent: Buffer.from(`..${TRACEPARENT}..`).subarray(2, 2 + TRACEPARENT.length) },
    ],
    ['several values', { traceparent: [TRACEPARENT] }],
    ['several Buffers', { traceparent: [Buffer.from(TRACEPARENT)] }],
    ['bytes in an array', { traceparent: [...bytes(TRACEPARENT)] }],
    [
      'a Buffer that has been through JSON',
      JSON.parse(JSON.stringify({ traceparent: Buffer.from(TRACEPARENT) })) as object,
    ],
    ['an ArrayBuffer', { traceparent: Uint8Array.from(Buffer.from(TRACEPARENT)).buffer }],
    ["an attribute of SQS's client", { traceparent: { DataType: 'String', StringValue: TRACEPARENT } }],
    ['an attribute of SQS in Lambda', { traceparent: { dataType: 'String', stringValue: TRACEPARENT } }],
    ['a Map of Buffers', new Map([['traceparent', Buffer.from(TRACEPARENT)]])],
    ['Headers', new Headers({ traceparent: TRACEPARENT })],
    ["NATS's MsgHdrs", nats('traceparent', TRACEPARENT)],
    ["NATS's MsgHdrs, named by a producer in Go", nats('Traceparent', TRACEPARENT)],
    ['a name in another case', { TraceParent: TRACEPARENT }],
  ])('I8: a traceparent is read from %s', (_kind, carrier) => {
    const found = trace.getSpanContext(extractContext(carrier));
    expect([found?.traceId, found?.spanId]).toEqual([TRACE, CALLER]);
  });

  it.each<[string, unknown, unknown]>([
    ['a number as text', 1, '1'],
    ['a boolean as text', true, 'true'],
    ['numbers too large for bytes as texts', [300, 1], ['300', '1']],
    ['numbers below all bytes as texts', [-1, 1], ['-1', '1']],
    ['numbers between bytes as texts', [0.5, 1], ['0.5', '1']],
    ['nothing from a list of nothing', [null, ''], undefined],
    ['nothing from numbers that nobody calls a Buffer', { data: [49] }, undefined],
  ])('I8: a propagator gets %s', (_kind, value, text) => {
    expect(CARRIER_GETTER.get({ 'x-b3-sampled': value }, 'x-b3-sampled')).toEqual(text);
  });

  it('I8: an object that can be asked for headers, but takes none, has them as its members', () => {
    const request = { get: () => undefined, traceparent: undefined };
    withSpan('send', () => injectContext(request));
    expect(request.traceparent).toContain(spanId(spans.single('send')));
    expect(trace.getSpanContext(extractContext(request))?.spanId).toBe(spanId(spans.single('send')));
  });

  it('I8: what else a propagator reads comes from bytes and several values, too', () => {
    const incoming = extractContext({
      traceparent: Buffer.from(TRACEPARENT),
      tracestate: [Buffer.from('shop=7')],
      baggage: ['tenant=a', Buffer.from('user=b')],
    });
    expect(trace.getSpanContext(incoming)?.traceState?.get('shop')).toBe('7');
    const baggage = propagation.getBaggage(incoming);
    expect([baggage?.getEntry('tenant')?.value, baggage?.getEntry('user')?.value]).toEqual(['a', 'b']);
  });

  const refuse = (): never => {
    throw new Error('not to be read');
  };

  it.each<[string, unknown]>([
    ['no carrier', undefined],
    ['null', null],
    ['an empty one', {}],
    ['one of other headers', { 'content-type': 'json', nothing: null, count: 7, nested: { a: 1 } }],
    ['one whose value is no text', { traceparent: { a: 1 } }],
    ['one of an empty list', { traceparent: [] }],
    ['a traceparent that is none', { traceparent: Buffer.from([255, 254, 0]) }],
    ['one whose getter throws', Object.defineProperty({}, 'traceparent', { get: refuse })],
    ['a proxy that throws', new Proxy({}, { get: refuse, ownKeys: refuse })],
    ['headers whose get throws', { get: refuse, set: refuse, keys: refuse }],
  ])('I8, I14: %s gives the active context', (_kind, carrier) => {
    withSpan('active', (span) => {
      const found = extractContext(carrier as object);
      expect(trace.getSpan(found)).toBe(span);
    });
  });

  it('I8, I14: a propagator that throws costs the context, not the message', () => {
    propagation.disable();
    propagation.setGlobalPropagator({ inject: refuse, extract: refuse, fields: () => [] });
    withSpan('active', (span) => {
      expect(() => injectContext({})).not.toThrow();
      expect(trace.getSpan(extractContext({}))).toBe(span);
    });
  });

  it.each([undefined, null])('I8: where a message has %s for headers no propagator is asked', (carrier) => {
    const extract = vi.fn(() => context.active());
    propagation.disable();
    propagation.setGlobalPropagator({ inject: refuse, extract, fields: () => [] });
    expect(extractContext(carrier)).toBe(context.active());
    expect(extract).not.toHaveBeenCalled();
  });

  it.each<[string, object]>([
    ['a frozen object', Object.freeze({})],
    ['headers whose set throws', { get: refuse, set: refuse }],
    ['a proxy that throws', new Proxy({}, { get: refuse, set: refuse })],
  ])('I8, I14: a carrier that takes nothing costs the context, not the message: %s', (_kind, carrier) => {
    expect(() => withSpan('send', () => injectContext(carrier))).not.toThrow();
  });
});
