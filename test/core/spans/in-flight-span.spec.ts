import { beforeEach, describe, expect, it, vi } from 'vitest';
import { context, type Span, SpanStatusCode, trace, type Tracer } from '@opentelemetry/api';
import { IN_FLIGHT_PROCESSOR, inFlight } from '../../../src/core/spans/in-flight-ring.js';
import { InFlightSpan, truncateInFlight, truncateThen } from '../../../src/core/spans/in-flight-span.js';
import { planSpan, type SiteOptions } from '../../../src/core/spans/span-plan.js';
import { processState } from '../../../src/core/state/process-state.js';
import { captureSpans, type CapturedSpans, exceptions } from '../../support/capture-spans.js';
import { type CapturedWarnings, captureWarnings } from '../../support/capture-warnings.js';

let spans: CapturedSpans;
let warnings: CapturedWarnings;
beforeEach(() => {
  spans = captureSpans();
  warnings = captureWarnings();
});

function begin(name: string, options?: SiteOptions, group?: string): InFlightSpan {
  return new InFlightSpan(planSpan(name, options, group), context.active());
}

const refuse = (): never => {
  throw new Error('not to be called');
};

describe('a span under way', () => {
  it('I1: is the active one in the context of its work', () => {
    const outer = begin('outer');
    const inner = new InFlightSpan(planSpan('inner', undefined, undefined), outer.inside);
    expect(trace.getSpan(outer.inside)).toBe(outer.span);
    inner.end();
    outer.end();
    expect(spans.single('inner').parentSpanContext?.spanId).toBe(outer.span.spanContext().spanId);
  });

  const ends: [string, (span: InFlightSpan) => void, object][] = [
    ['end', (span) => span.end(), { code: SpanStatusCode.UNSET, exceptions: 0, cancelled: undefined }],
    [
      'fail',
      (span) => span.fail(new Error('sold out')),
      { code: SpanStatusCode.ERROR, exceptions: 1, cancelled: undefined },
    ],
    ['cancel', (span) => span.cancel(), { code: SpanStatusCode.UNSET, exceptions: 0, cancelled: true }],
  ];

  it.each(ends)('I9: has the outcome that came first: %s', (_first, first, outcome) => {
    const span = begin('work').track();
    first(span);
    for (const [, later] of ends) later(span);
    const ended = spans.single('work');
    expect({
      code: ended.status.code,
      exceptions: exceptions(ended).length,
      cancelled: ended.attributes['nestlens.cancelled'],
    }).toEqual(outcome);
    expect(inFlight.count).toBe(0);
  });

  it('I9: is ended once, also if it says that it records for ever, as that of a site’s own tracer may', () => {
    const ends = vi.fn();
    const startSpan: Tracer['startSpan'] = (...args) => {
      const span = spans.tracer.startSpan(...args);
      span.end();
      return Object.assign(span, { isRecording: () => true, end: ends, setAttribute: refuse });
    };
    const span = begin('work', { tracer: { startSpan } as Tracer });
    span.end();
    span.end();
    span.cancel();
    expect([ends.mock.calls.length, warnings.codes()]).toEqual([1, []]);
  });

  it('I2: records what was thrown, and is no error if that is none', () => {
    begin('work', { isError: () => false }).fail(new Error('try again'));
    const ended = spans.single('work');
    expect([ended.status.code, exceptions(ended).length]).toEqual([SpanStatusCode.UNSET, 1]);
  });

  it('H10: is tracked once, and not after its end', () => {
    const [first, second] = [begin('first'), begin('second')];
    first.track();
    second.track();
    expect(first.track()).toBe(first);
    expect(inFlight.count).toBe(2);
    first.end();
    first.track();
    expect(inFlight.count).toBe(1);
    second.end();
    expect(inFlight.count).toBe(0);
  });

  it('C2: is counted by its group if somebody counts', () => {
    begin('before', undefined, 'orders').end();
    processState.spanCounts = new Map();
    begin('one', undefined, 'orders').end();
    begin('two', undefined, 'orders').end();
    begin('three', undefined, 'db').end();
    begin('of no group').end();
    expect([...processState.spanCounts]).toEqual([
      ['orders', { count: 2 }],
      ['db', { count: 1 }],
    ]);
  });

  it('I14: that cannot be written to is ended, and one warning says so', () => {
    const span = begin('work');
    Object.assign(span.span, { setAttribute: refuse });
    span.cancel();
    expect(spans.names()).toEqual(['work']);
    expect(warnings.codes()).toEqual(['SPAN_FAILED']);
    expect(warnings.all[0]!.message).toContain("'work'");
  });

  it.each(['isRecording', 'end'])('I14: whose %s throws costs a warning', (method) => {
    const span = begin('work').track();
    const end = span.span.end.bind(span.span);
    Object.assign(span.span, { [method]: refuse });
    expect(() => span.end()).not.toThrow();
    expect(warnings.codes()).toEqual(['SPAN_FAILED']);
    expect(inFlight.count).toBe(0);
    end();
  });

  it('I1: that the application has ended is not touched again', () => {
    const span = begin('work');
    span.span.end();
    Object.assign(span.span, { setAttribute: refuse, end: refuse });
    span.cancel();
    expect(warnings.codes()).toEqual([]);
  });
});

describe('a span that a shutdown ends', () => {
  it('H10: says so in an attribute and an event, and is no error', () => {
    const [outer, inner] = [begin('outer').track(), begin('inner').track()];
    truncateInFlight();
    expect(spans.names()).toEqual(['inner', 'outer']);
    for (const span of spans.all()) {
      expect([span.attributes['nestlens.truncated'], span.status.code]).toEqual([true, SpanStatusCode.UNSET]);
      expect(span.events.map(({ name, attributes }) => [name, attributes])).toEqual([
        ['nestlens.truncated', { reason: 'telemetry was shut down before the work was done' }],
      ]);
    }
    inner.fail(new Error('too late'));
    outer.end();
    expect(spans.all()).toHaveLength(2);
  });

  it('H10: takes what the work still writes, and keeps nothing of it', () => {
    const { span } = begin('work').track();
    truncateInFlight();
    const writes: ((span: Span) => unknown)[] = [
      (to) => to.setAttribute('late', 1),
      (to) => to.setAttributes({ late: 1 }),
      (to) => to.addEvent('late'),
      (to) => to.addLink({ context: to.spanContext() }),
      (to) => to.addLinks([{ context: to.spanContext() }]),
      (to) => to.setStatus({ code: SpanStatusCode.ERROR }),
      (to) => to.updateName('late'),
    ];
    for (const write of writes) expect(write(span)).toBe(span);
    span.recordException(new Error('late'));
    span.end();
    // test/setup.ts fails the test if the SDK complains about an ended span.
    const { name, attributes, events, links, status } = spans.single();
    expect([name, attributes, events.length, links, status.code]).toEqual([
      'work',
      { 'nestlens.truncated': true },
      1,
      [],
      SpanStatusCode.UNSET,
    ]);
  });

  it('H10: was not ended by the application before', () => {
    const ended = begin('ended').track();
    ended.span.end();
    begin('open').track();
    truncateInFlight();
    expect(spans.single('ended').attributes).toEqual({});
    expect(spans.single('open').attributes).toEqual({ 'nestlens.truncated': true });
  });

  it('H10, I14: that throws costs a warning with its name, and no other span', () => {
    const broken = { isRecording: () => true, setAttribute: refuse };
    begin('first').track();
    IN_FLIGHT_PROCESSOR.onStart({ ...broken, name: 'broken' } as unknown as Span);
    IN_FLIGHT_PROCESSOR.onStart(broken as unknown as Span);
    begin('last').track();
    truncateInFlight();
    expect(spans.names()).toEqual(['last', 'first']);
    expect(warnings.codes()).toEqual(['SPAN_FAILED', 'SPAN_FAILED']);
    expect(warnings.all.map(({ details }) => (details as { span: string }).span)).toEqual([
      'still open',
      'broken',
    ]);
  });

  it('H10: is ended before the next step of the shutdown', async () => {
    begin('work').track();
    const seen: string[] = [];
    await truncateThen(async () => void seen.push(...spans.names()));
    expect(seen).toEqual(['work']);
  });
});
