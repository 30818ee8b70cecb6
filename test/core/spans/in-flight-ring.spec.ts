import { beforeEach, describe, expect, it } from 'vitest';
import { context, INVALID_SPAN_CONTEXT, type Span, trace } from '@opentelemetry/api';
import { BasicTracerProvider } from '@opentelemetry/sdk-trace-base';
import {
  IN_FLIGHT_PROCESSOR,
  inFlight,
  MAX_IN_FLIGHT,
  takeInFlight,
} from '../../../src/core/spans/in-flight-ring.js';
import { InFlightSpan } from '../../../src/core/spans/in-flight-span.js';
import { planSpan } from '../../../src/core/spans/span-plan.js';

/** A span of NestLens whose work goes on. */
function ofNestLens(name: string): InFlightSpan {
  return new InFlightSpan(planSpan(name, undefined, undefined), context.active()).track();
}

function byHand(name: string): Span {
  return trace.getTracer('by hand').startSpan(name);
}

function takenNames(): (string | undefined)[] {
  return takeInFlight().map((span) => (span as { name?: string }).name);
}

describe('the spans under way', () => {
  let provider: BasicTracerProvider;
  beforeEach(() => {
    provider = new BasicTracerProvider({ spanProcessors: [IN_FLIGHT_PROCESSOR] });
    trace.setGlobalTracerProvider(provider);
  });

  it('H10: are taken newest first, whoever made them, and each once', () => {
    ofNestLens('a');
    byHand('b');
    ofNestLens('c');
    byHand('d');
    byHand('e');
    ofNestLens('f');
    expect(takenNames()).toEqual(['f', 'e', 'd', 'c', 'b', 'a']);
    expect(takenNames()).toEqual([]);
    expect(inFlight.count).toBe(0);
  });

  it('H10: are those that have not ended', () => {
    const made = ['a', 'b', 'c', 'd'].map(ofNestLens);
    const others = ['e', 'f', 'g'].map(byHand);
    made[1]!.end();
    made[3]!.end();
    others[1]!.end();
    expect([inFlight.count, inFlight.others.size]).toEqual([2, 2]);
    expect(takenNames()).toEqual(['g', 'e', 'c', 'a']);
  });

  it('H10: that have ended hold on to none that still run, so these can be collected', () => {
    const [first, middle, last] = ['a', 'b', 'c'].map(ofNestLens);
    middle!.end();
    expect(middle!.older).toBe(middle);
    expect(middle!.newer).toBe(middle);
    expect(first!.newer).toBe(last);
    expect(last!.older).toBe(first);
  });

  it('H10: may end after they were taken, and are no spans under way then', () => {
    const span = ofNestLens('a');
    takeInFlight();
    ofNestLens('b');
    span.end();
    expect(inFlight.count).toBe(1);
    expect(takenNames()).toEqual(['b']);
  });

  it('H10: of work that the shutdown does not wait for: the processor lets nobody wait', async () => {
    byHand('a');
    await expect(provider.forceFlush()).resolves.toBeUndefined();
    await expect(IN_FLIGHT_PROCESSOR.forceFlush()).resolves.toBeUndefined();
    await expect(IN_FLIGHT_PROCESSOR.shutdown()).resolves.toBeUndefined();
  });
});

describe('too many spans under way', () => {
  it('H10: of NestLens: the oldest is forgotten, which may still end', () => {
    const made = Array.from({ length: MAX_IN_FLIGHT }, (_, at) => ofNestLens(`span ${at}`));
    const oldestIs = (at: number): boolean => inFlight.ring.newer === made[at];
    expect([inFlight.count, oldestIs(0)]).toEqual([MAX_IN_FLIGHT, true]);
    ofNestLens('newest');
    expect([inFlight.count, oldestIs(1)]).toEqual([MAX_IN_FLIGHT, true]);
    made[0]!.end();
    expect([inFlight.count, oldestIs(1)]).toEqual([MAX_IN_FLIGHT, true]);
    expect(takeInFlight().length).toBe(MAX_IN_FLIGHT);
  });

  it('H10: of others: the oldest is forgotten', () => {
    const start = (): Span => {
      const span = trace.wrapSpanContext(INVALID_SPAN_CONTEXT);
      IN_FLIGHT_PROCESSOR.onStart(span);
      return span;
    };
    const started = Array.from({ length: MAX_IN_FLIGHT }, start);
    expect(inFlight.others.size).toBe(MAX_IN_FLIGHT);
    const newest = start();
    expect(inFlight.others.size).toBe(MAX_IN_FLIGHT);
    const taken = takeInFlight();
    expect([taken[0] === newest, taken.at(-1) === started[1]]).toEqual([true, true]);
  });
});
