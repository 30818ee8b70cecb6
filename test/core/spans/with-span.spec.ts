import { beforeEach, describe, expect, it, vi } from 'vitest';
import { context, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';
import { managedSpan, setEnabledSpanGroups, withSpan } from 'nest-lens/core';
import {
  captureSpans,
  type CapturedSpans,
  exceptions,
  parentId,
  spanId,
} from '../../support/capture-spans.js';

let spans: CapturedSpans;
beforeEach(() => {
  spans = captureSpans();
});

describe('withSpan', () => {
  it('I5: makes its span whatever is on, and hands the result back', async () => {
    setEnabledSpanGroups([]);
    const result = { id: 1 };
    expect(
      withSpan('job', (span) => {
        expect(trace.getActiveSpan()).toBe(span);
        return result;
      }),
    ).toBe(result);
    expect(await withSpan('async job', () => Promise.resolve(2))).toBe(2);
    expect(spans.names()).toEqual(['job', 'async job']);
    expect(spans.openCount()).toBe(0);
  });

  it('I10: it belongs to no group', () => {
    const startSpan = vi.spyOn(spans.tracer, 'startSpan');
    withSpan('job', { attributes: { day: 1 }, tracer: spans.tracer }, () => undefined);
    expect(startSpan.mock.lastCall?.[1]?.attributes).toStrictEqual({ day: 1 });
    expect(spans.single().attributes).toEqual({ day: 1 });
  });

  it('I5: members of the work are no options', () => {
    withSpan(
      'job',
      Object.assign(() => 1, { attributes: { day: 1 }, kind: SpanKind.CLIENT }),
    );
    expect([spans.single().attributes, spans.single().kind]).toEqual([{}, SpanKind.INTERNAL]);
  });

  it('I5: takes the options of a site', () => {
    withSpan(
      'job',
      { attributes: () => ({ day: 1 }), kind: SpanKind.PRODUCER, tracer: spans.tracer },
      () => undefined,
    );
    const span = spans.single('job');
    expect([span.attributes, span.kind, span.instrumentationScope.name]).toEqual([
      { day: 1 },
      SpanKind.PRODUCER,
      'test',
    ]);
  });

  it('I2: a throw and a rejection are recorded and go on unchanged', async () => {
    const error = new Error('failed');
    expect(() =>
      withSpan('throws', () => {
        throw error;
      }),
    ).toThrow(error);
    await expect(withSpan('rejects', {}, () => Promise.reject(error))).rejects.toBe(error);
    for (const span of spans.all()) {
      expect([span.status, exceptions(span).length]).toEqual([
        { code: SpanStatusCode.ERROR, message: 'failed' },
        1,
      ]);
    }
    expect(spans.names()).toEqual(['throws', 'rejects']);
  });

  it('I11: gated spans inside hang under it', () => {
    setEnabledSpanGroups(['orders']);
    withSpan('job', () => managedSpan('orders', 'place', () => undefined));
    expect(parentId(spans.single('place'))).toBe(spanId(spans.single('job')));
  });

  it('I5: without an SDK the body still gets a usable span', () => {
    trace.disable();
    context.disable();
    const seen = withSpan('job', (span) => {
      span.setAttribute('a', 1).addEvent('b').end();
      return span.isRecording();
    });
    expect(seen).toBe(false);
    expect(spans.all()).toEqual([]);
  });
});
