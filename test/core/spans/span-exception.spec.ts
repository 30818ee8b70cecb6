import { beforeEach, describe, expect, it } from 'vitest';
import { type Span, SpanStatusCode, type Tracer } from '@opentelemetry/api';
import { managedSpan, setEnabledSpanGroups } from 'nest-lens/core';
import { captureSpans, type CapturedSpans, exceptions } from '../../support/capture-spans.js';

let spans: CapturedSpans;
beforeEach(() => {
  spans = captureSpans();
  setEnabledSpanGroups(['orders']);
});

/** Runs work that throws this, after it has done something with its span. */
function failWith(thrown: unknown, before: (span: Span) => void = () => undefined): void {
  expect(() =>
    managedSpan('orders', 'work', (span) => {
      before(span!);
      throw thrown;
    }),
  ).toThrow();
}

/** What the span has recorded of a thrown value. The message is also that of its status. */
function recordedOf(thrown: unknown): { type: unknown; message: unknown; hasStack: boolean } {
  spans.clear();
  failWith(thrown);
  const { status } = spans.single('work');
  const [event, ...others] = exceptions(spans.single('work'));
  expect(others).toEqual([]);
  const {
    'exception.type': type,
    'exception.message': message,
    'exception.stacktrace': stack,
  } = event!.attributes!;
  expect(status).toEqual({ code: SpanStatusCode.ERROR, message });
  return { type, message, hasStack: stack !== undefined };
}

describe('what a span records of a thrown value', () => {
  it.each<[string, unknown, type: string, message: string]>([
    ['a string', 'no stock', 'string', 'no stock'],
    ['a number', 42, 'number', '42'],
    ['a symbol', Symbol('odd'), 'symbol', 'Symbol(odd)'],
    ['null', null, 'null', 'null'],
    ['undefined', undefined, 'undefined', 'undefined'],
    ['an object', { reason: 'odd' }, 'Error', '[object Object]'],
    ['an object that says its name and its message', { name: 'Odd', message: 'text' }, 'Odd', 'text'],
    ['an object whose name is empty', { name: '', message: 'text' }, 'Error', 'text'],
    ['an object whose name is no string', { name: 7, message: 'text' }, 'Error', 'text'],
    ['an object whose message is no string', { message: 404 }, 'Error', '404'],
    ['an object whose message is null', { message: null }, 'Error', 'null'],
    [
      'an object whose message cannot be printed',
      { message: Object.create(null) as object },
      'Error',
      'a value that cannot be printed',
    ],
    ['an object without a prototype', Object.create(null), 'Error', 'a value that cannot be printed'],
    ['an object with a stack that is no string', { message: 'text', stack: 5 }, 'Error', 'text'],
    ['an object with a code', { message: 'text', code: 'ENOENT' }, 'ENOENT', 'text'],
    ['an object with a number as its code', { message: 'text', code: 404 }, '404', 'text'],
    ['an object with a code that is neither', { message: 'text', code: true }, 'Error', 'text'],
    ['a function', Object.assign(() => 1, { toString: () => 'its source' }), 'Error', 'its source'],
  ])('I2: %s: its type and its message', (_kind, thrown, type, message) => {
    expect(recordedOf(thrown)).toEqual({ type, message, hasStack: false });
  });

  it('I2: an error: its class, its message and its stack', () => {
    const error = new RangeError('too many');
    expect(recordedOf(error)).toEqual({ type: 'RangeError', message: 'too many', hasStack: true });
    expect(exceptions(spans.single('work'))[0]!.attributes!['exception.stacktrace']).toBe(error.stack);
  });

  it('I2: of an error of which one member cannot be read, the others', () => {
    const error = Object.defineProperty(new TypeError('no way'), 'stack', {
      get: () => {
        throw new Error('not to be read');
      },
    });
    expect(recordedOf(error)).toEqual({ type: 'TypeError', message: 'no way', hasStack: false });
  });
});

describe('an exception that the work has recorded itself', () => {
  const error = new Error('no stock');

  it('I2: is recorded once, with what else the work has recorded', () => {
    failWith(error, (span) => {
      span.addEvent('asked');
      span.recordException(error);
    });
    expect(spans.single('work').events.map(({ name }) => name)).toEqual(['asked', 'exception']);
    expect(spans.single('work').status.message).toBe('no stock');
  });

  it.each<[string, (span: Span) => void]>([
    ['another exception', (span) => span.recordException(new Error('a first try'))],
    [
      'another event with the same message',
      (span) => span.addEvent('retry', { 'exception.message': 'no stock' }),
    ],
    ['an exception without a message', (span) => span.addEvent('exception')],
  ])('I2: is not taken for %s', (_kind, before) => {
    failWith(error, before);
    const { events } = spans.single('work');
    expect(events).toHaveLength(2);
    expect([events[1]!.name, events[1]!.attributes!['exception.message']]).toEqual(['exception', 'no stock']);
  });

  it.each([undefined, null, 'exception', { size: 0 }])(
    'I2: is recorded once more where the span of a tracer of its own shows its events as %o',
    (events) => {
      const tracer = {
        startSpan: (name: string) =>
          new Proxy(spans.tracer.startSpan(name), {
            get: (span, key) =>
              key === 'events' ? events : (Reflect.get(span, key) as () => unknown).bind(span),
          }),
      } as unknown as Tracer;
      expect(() =>
        managedSpan('orders', 'work', { tracer }, (span) => {
          span!.recordException(error);
          throw error;
        }),
      ).toThrow(error);
      expect(exceptions(spans.single('work'))).toHaveLength(2);
      expect(spans.single('work').status).toEqual({ code: SpanStatusCode.ERROR, message: 'no stock' });
    },
  );
});
