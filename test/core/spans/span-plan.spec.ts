import { beforeEach, describe, expect, it } from 'vitest';
import {
  INVALID_SPAN_CONTEXT,
  type Link,
  ROOT_CONTEXT,
  type Span,
  type SpanContext,
  SpanKind,
  trace,
  TraceFlags,
  type Tracer,
} from '@opentelemetry/api';
import { setEnabledSpanGroups } from 'nest-lens/core';
import { inFlight } from '../../../src/core/spans/in-flight-ring.js';
import { planSpan, startSpan } from '../../../src/core/spans/span-plan.js';
import { captureSpans, type CapturedSpans } from '../../support/capture-spans.js';
import { type CapturedWarnings, captureWarnings } from '../../support/capture-warnings.js';

let spans: CapturedSpans;
let warnings: CapturedWarnings;
beforeEach(() => {
  spans = captureSpans();
  warnings = captureWarnings();
});

const refuse = (): never => {
  throw new Error('not to be read');
};
const OF_PARENT: SpanContext = {
  traceId: '1'.repeat(32),
  spanId: '2'.repeat(16),
  traceFlags: TraceFlags.SAMPLED,
};
const PARENT = trace.setSpanContext(ROOT_CONTEXT, OF_PARENT);

describe('the plan of a span', () => {
  it('I1: has what the options say, and the group', () => {
    const isError = (): boolean => false;
    const links: Link[] = [{ context: OF_PARENT }];
    const { tracer } = spans;
    const options = { attributes: { a: 1 }, kind: SpanKind.CLIENT, links, tracer, isError };
    const { isOn, ...plan } = planSpan('work', options, 'orders');
    expect(plan).toEqual({
      name: 'work',
      attributes: { a: 1, 'nestlens.group': 'orders' },
      kind: SpanKind.CLIENT,
      links,
      tracer,
      isError,
    });
    expect(isOn!()).toBe(false);
    setEnabledSpanGroups(['orders']);
    expect(isOn!()).toBe(true);
  });

  it('I5: of no group counts as on, and has no group among its attributes', () => {
    const { attributes, isOn } = planSpan('work', { attributes: { a: 1 } }, undefined);
    expect([attributes, isOn]).toEqual([{ a: 1 }, undefined]);
    expect(Object.keys(planSpan('work', undefined, undefined).attributes)).toEqual([]);
  });

  it('I14: of a name that is not a string has it as text', () => {
    expect(planSpan(Symbol('work') as never, undefined, undefined).name).toBe('Symbol(work)');
    expect(planSpan(7 as never, undefined, undefined).name).toBe('7');
  });

  it('I14: whose options cannot be read has its name and its group, and one warning says so', () => {
    for (let i = 0; i < 2; i++) {
      const plan = planSpan('work', new Proxy({}, { get: refuse }), 'orders');
      expect([plan.name, plan.attributes]).toEqual(['work', { 'nestlens.group': 'orders' }]);
      expect(plan.isOn!()).toBe(false);
    }
    expect(warnings.codes()).toEqual(['ATTRIBUTES_FAILED']);
    expect(warnings.all[0]!.message).toContain("'work'");
  });

  it.each<[string, unknown, Link[] | undefined]>([
    ['no links', undefined, undefined],
    ['links that are none', [undefined, null, {}, { context: null }, { context: { traceId: 5 } }, 5], []],
    ['one link among others', [{}, { context: OF_PARENT }], [{ context: OF_PARENT }]],
    ['links that are no list', { context: OF_PARENT }, []],
  ])('I14: takes %s', (_kind, links, taken) => {
    expect(planSpan('work', { links: links as never }, 'orders').links).toEqual(taken);
    expect(warnings.codes()).toEqual([]);
  });
});

/** A tracer that has this for a span. */
const tracerOf = (start: () => unknown): Tracer => ({ startSpan: start }) as never;
const withMethods = (...methods: string[]): object =>
  Object.fromEntries(methods.map((method) => [method, () => true]));
const OF_SDK = ['isRecording', 'end'];
const OF_SITE = [
  ...['spanContext', 'isRecording', 'end', 'setAttribute', 'setAttributes'],
  ...['addEvent', 'setStatus', 'updateName', 'recordException'],
];

describe('the start of a span', () => {
  it('I1: is made by the tracer of the site, or else by that of the provider', () => {
    startSpan(planSpan('provider', undefined, undefined), ROOT_CONTEXT).end();
    startSpan(planSpan('site', { tracer: spans.tracer }, undefined), PARENT).end();
    expect(spans.all().map(({ name, instrumentationScope }) => [name, instrumentationScope.name])).toEqual([
      ['provider', 'nest-lens'],
      ['site', 'test'],
    ]);
    expect(spans.single('site').parentSpanContext).toEqual(OF_PARENT);
    expect(spans.single('provider').parentSpanContext).toBeUndefined();
  });

  it('H10: is marked as that of a span of NestLens while it lasts, also if it fails', () => {
    const marks: boolean[] = [];
    const noting = tracerOf(() => {
      marks.push(inFlight.isStartingOwn);
      throw new Error('no span');
    });
    startSpan(planSpan('work', { tracer: noting }, undefined), ROOT_CONTEXT);
    expect([marks, inFlight.isStartingOwn]).toEqual([[true], false]);
    startSpan(planSpan('work', undefined, undefined), ROOT_CONTEXT).end();
    expect(inFlight.isStartingOwn).toBe(false);
  });

  const giving: [string, () => unknown][] = [
    ['throws', refuse],
    ['gives nothing', () => undefined],
    ['gives null', () => null],
    ['gives what cannot be ended', () => withMethods(...OF_SITE.filter((method) => method !== 'end'))],
    [
      'gives what cannot be asked whether it records',
      () => withMethods(...OF_SITE.filter((method) => method !== 'isRecording')),
    ],
    ['gives half a span', () => withMethods(...OF_SDK)],
  ];

  it.each(giving)(
    'I14: by a tracer that %s is a warning, and the work stays below the span above',
    (_how, start) => {
      const plan = planSpan('work', { tracer: tracerOf(start) }, undefined);
      for (let i = 0; i < 2; i++) {
        const below = startSpan(plan, PARENT);
        expect([below.isRecording(), below.spanContext()]).toEqual([false, OF_PARENT]);
        expect(startSpan(plan, ROOT_CONTEXT).spanContext()).toEqual(INVALID_SPAN_CONTEXT);
      }
      expect(warnings.codes()).toEqual(['SPAN_FAILED']);
      expect(warnings.all[0]!.message).toContain("'work'");
      expect(inFlight.isStartingOwn).toBe(false);
    },
  );

  it('I14: by a tracer that gives a promise leaves its rejection to nobody', async () => {
    const rejections: unknown[] = [];
    const onRejection = (reason: unknown): void => void rejections.push(reason);
    process.on('unhandledRejection', onRejection);
    const tracer = tracerOf(() => Promise.reject(new Error('no span')));
    startSpan(planSpan('work', { tracer }, undefined), PARENT);
    await new Promise((resolve) => setTimeout(resolve, 1));
    process.off('unhandledRejection', onRejection);
    expect(rejections).toEqual([]);
    expect(warnings.codes()).toEqual(['SPAN_FAILED']);
  });

  it('I14: takes a span of a site’s own tracer that has all methods', () => {
    const whole = withMethods(...OF_SITE);
    expect(startSpan(planSpan('work', { tracer: tracerOf(() => whole) }, undefined), PARENT)).toBe(whole);
    expect(warnings.codes()).toEqual([]);
  });

  it.each(OF_SITE)('I14: refuses a span of a site’s own tracer without %s', (missing) => {
    const half = withMethods(...OF_SITE.filter((method) => method !== missing));
    expect(startSpan(planSpan('work', { tracer: tracerOf(() => half) }, undefined), PARENT)).not.toBe(half);
    expect(warnings.codes()).toEqual(['SPAN_FAILED']);
  });

  it('I14: takes what the provider’s tracer has for a span, if it can be asked and ended', () => {
    const ofProvider = (given: object): Span => {
      trace.disable();
      trace.setGlobalTracerProvider({ getTracer: () => tracerOf(() => given) });
      return startSpan(planSpan('work', undefined, undefined), PARENT);
    };
    const span = withMethods(...OF_SDK);
    expect(ofProvider(span)).toBe(span);
    expect(warnings.codes()).toEqual([]);
    for (const half of [{}, ...OF_SDK.map((method) => withMethods(method))]) {
      expect(ofProvider(half).isRecording()).toBe(false);
    }
    expect(warnings.codes()).toEqual(['SPAN_FAILED']);
  });
});
