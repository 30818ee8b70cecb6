import { beforeEach, describe, expect, it, vi } from 'vitest';
import { INVALID_SPAN_CONTEXT, trace, type Span } from '@opentelemetry/api';
import { managedSpan, safeSetSpanAttributes, setEnabledSpanGroups } from 'nest-lens/core';
import { captureSpans, type CapturedSpans } from '../../support/capture-spans.js';

let spans: CapturedSpans;
beforeEach(() => {
  spans = captureSpans();
  setEnabledSpanGroups(['orders']);
});

const refuse = (): never => {
  throw new Error('not to be read');
};

function revoked(): object {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  return proxy;
}

/** What a real span holds after `safeSetSpanAttributes`. */
function recorded(attributes: Record<string, unknown>, options?: { redactKeys?: Iterable<string> }): object {
  const span = spans.tracer.startSpan('probe');
  safeSetSpanAttributes(span, attributes, options);
  span.end();
  return spans.all().at(-1)!.attributes;
}

describe('safeSetSpanAttributes', () => {
  it.each<[string, unknown]>([
    ['a string', 'x'],
    ['an empty string', ''],
    ['a number', 1.5],
    ['zero', 0],
    ['a negative number', -3],
    ['true', true],
    ['false', false],
    ['strings', ['a', 'b']],
    ['numbers', [1, 2.5]],
    ['booleans', [true, false]],
  ])('I6: sets %s', (_kind, value) => {
    expect(recorded({ value })).toEqual({ value });
  });

  it.each<[string, unknown]>([
    ['undefined', undefined],
    ['null', null],
    ['an object', { x: 1 }],
    ['a date', new Date(0)],
    ['a function', () => 1],
    ['a symbol', Symbol('s')],
    ['a bigint', 1n],
    ['NaN', NaN],
    ['Infinity', Infinity],
    ['-Infinity', -Infinity],
    ['a boxed string', Object('x')],
    ['a map', new Map([['a', 1]])],
    ['a mixed array', [1, 'a']],
    ['an array with null', ['a', null]],
    ['an array with undefined', [undefined, 1]],
    ['an array with NaN', [1, NaN]],
    ['an array of objects', [{}]],
    ['an array of arrays', [['a']]],
    ['an object without a prototype', Object.create(null)],
  ])('I6: drops %s without a word, and keeps the rest', (_kind, value) => {
    expect(recorded({ before: 1, value, after: 2 })).toEqual({ before: 1, after: 2 });
  });

  it('I6: an absent span is a no-op, and no value is read', () => {
    let reads = 0;
    const attributes = {
      get value() {
        reads++;
        return 1;
      },
    };
    safeSetSpanAttributes(undefined, attributes);
    expect(reads).toBe(0);
  });

  it('I6: a span that does not record is a no-op, an ended one too', () => {
    const inert: Span = trace.wrapSpanContext(INVALID_SPAN_CONTEXT);
    expect(() => safeSetSpanAttributes(inert, { value: 1 })).not.toThrow();
    const span = spans.tracer.startSpan('over');
    span.end();
    safeSetSpanAttributes(span, { value: 1 });
    expect(spans.single('over').attributes).toEqual({});
  });

  it.each<[string, () => unknown]>([
    [
      'a revoked proxy',
      () => {
        const { proxy, revoke } = Proxy.revocable([], {});
        revoke();
        return proxy;
      },
    ],
    [
      'an array with a getter that throws',
      () =>
        Object.defineProperty(['a', 'b'], 1, {
          get: () => {
            throw new Error('no such item');
          },
        }),
    ],
    ['an array with a hole', () => [1, , 2]], // eslint-disable-line no-sparse-arrays -- a hole is the case
  ])('I6: never throws: drops %s, and keeps the rest', (_kind, make) => {
    expect(recorded({ before: 1, value: make(), after: 2 })).toMatchObject({ before: 1, after: 2 });
  });

  it('I6: never throws: drops what a getter throws instead of, and keeps the rest', () => {
    const attributes = {
      before: 1,
      get value(): string {
        throw new Error('not loaded');
      },
      after: 2,
    };
    expect(recorded(attributes)).toEqual({ before: 1, after: 2 });
  });

  it.each([undefined, null])('I6: never throws: %s has no attributes', (attributes) => {
    expect(recorded(attributes as never)).toEqual({});
  });

  it('I7: never throws: keys to redact that are no strings are harmless', () => {
    const redactKeys = [undefined, null, 7, {}, 'ssn'] as never;
    expect(recorded({ ssn: '1', '7': 'seven', kept: 1 }, { redactKeys })).toEqual({
      ssn: '[REDACTED]',
      '7': '[REDACTED]',
      kept: 1,
    });
  });

  it.each<[string, unknown]>([
    ['a proxy that does not say its keys', new Proxy({}, { ownKeys: refuse })],
    ['a revoked proxy', revoked()],
    ['a proxy whose values throw', new Proxy({ a: 1 }, { get: refuse })],
    ['a symbol', Symbol('s')],
    ['a number', 5],
  ])('I6, I14: never throws: %s has no attributes', (_kind, attributes) => {
    expect(recorded(attributes as never)).toEqual({});
  });

  it.each<[string, unknown]>([
    ['null', null],
    ['an object that is no span', {}],
    ['a revoked proxy', revoked()],
    ['a span that throws', { isRecording: refuse }],
    ['a span whose setAttribute throws', { isRecording: () => true, setAttribute: refuse }],
  ])('I6, I14: never throws: a span that is %s takes nothing', (_kind, span) => {
    expect(() => safeSetSpanAttributes(span as never, { a: 1 })).not.toThrow();
  });

  it('I6: an attribute without a key does not reach the span, whose SDK would complain', () => {
    const setAttribute = vi.fn();
    safeSetSpanAttributes({ isRecording: () => true, setAttribute } as never, { '': 1, a: 2 });
    expect(setAttribute.mock.calls).toEqual([['a', 2]]);
  });

  it('I6: takes the span of managedSpan as it comes, on and off', () => {
    const place = (): void =>
      managedSpan('orders', 'place', (span) =>
        safeSetSpanAttributes(span, { 'order.id': 7, user: undefined }),
      );
    place();
    setEnabledSpanGroups([]);
    place();
    expect(spans.single('place').attributes).toEqual({ 'order.id': 7, 'nestlens.group': 'orders' });
  });
});

describe('redaction', () => {
  // The words, and what they redact, are in docs/attributes-and-redaction.md, whose rows test/docs/redaction.spec.ts tries.

  it.each<[string, unknown]>([
    ['a number', 4711],
    ['strings', ['a', 'b']],
    ['numbers', [1, 2]],
    ['an empty string', ''],
  ])('I7: %s is redacted too', (_kind, value) => {
    expect(recorded({ password: value })).toEqual({ password: '[REDACTED]' });
  });

  it.each([undefined, null])('I6: %s is dropped under a redacted key too', (value) => {
    expect(recorded({ password: value, 'user.token': value, kept: 1 })).toEqual({ kept: 1 });
  });

  it('I7: a given set replaces the default one', () => {
    const options = { redactKeys: ['ssn'] };
    expect(
      recorded({ ssn: '1', 'user.ssn': '2', user_ssn: '3', password: 'kept', ssn_count: 4 }, options),
    ).toEqual({
      ssn: '[REDACTED]',
      'user.ssn': '[REDACTED]',
      user_ssn: '[REDACTED]',
      password: 'kept',
      ssn_count: 4,
    });
  });

  it.each<[string, () => Iterable<string>]>([
    ['a set', () => new Set(['SSN'])],
    [
      'a generator',
      () =>
        (function* () {
          yield 'Ssn';
        })(),
    ],
    ['an array', () => ['ssn']],
  ])('I7: a given set is %s, in any case', (_kind, redactKeys) => {
    expect(recorded({ SSN: 1, 'a.ssn': 2, b: 3 }, { redactKeys: redactKeys() })).toEqual({
      SSN: '[REDACTED]',
      'a.ssn': '[REDACTED]',
      b: 3,
    });
  });

  it('I7: a given dotted or compound key is matched by the last words of a key, however they are written', () => {
    const options = { redactKeys: ['user.email', 'first_name', 'contentHash'] };
    const redacted = { 'user.email': 1, user_email: 2, 'x.first_name': 3, firstName: 4, content_hash: 5 };
    const kept = { email: 6, name: 7, first_name_length: 8, hash: 9 };
    expect(recorded({ ...redacted, ...kept }, options)).toEqual({
      ...Object.fromEntries(Object.keys(redacted).map((key) => [key, '[REDACTED]'])),
      ...kept,
    });
  });

  it('I7: plurals and words of form count for a given set, too', () => {
    const options = { redactKeys: ['ssn'] };
    expect(recorded({ ssns: 'a', ssn_hash: 'b', ssn2: 'c', 'ssn.count': 1 }, options)).toEqual({
      ssns: '[REDACTED]',
      ssn_hash: '[REDACTED]',
      ssn2: '[REDACTED]',
      'ssn.count': 1,
    });
    expect(recorded({ ssns: 3 }, options)).toEqual({ ssns: 3 });
  });

  it.each<[string, unknown]>([
    ['is no list', 5],
    ['throws while it is read', { [Symbol.iterator]: refuse }],
    ['has words that cannot be printed', [{ toString: refuse }, Object.create(null)]],
    ['is null', null],
    ['is a revoked proxy', revoked()],
  ])('I7, I14: a given set that %s lets no secret out', (_kind, redactKeys) => {
    const options = { redactKeys: redactKeys as never };
    expect(recorded({ password: 'x', kept: 1 }, options)).toEqual({ password: '[REDACTED]', kept: 1 });
  });

  it.each<[string, unknown]>([
    ['a getter that throws', Object.defineProperty({}, 'redactKeys', { get: refuse })],
    ['null', null],
    ['a revoked proxy', revoked()],
  ])('I7, I14: options that are %s let no secret out', (_kind, options) => {
    expect(recorded({ password: 'x', kept: 1 }, options as never)).toEqual({
      password: '[REDACTED]',
      kept: 1,
    });
  });

  it('I7: many keys, long ones and hostile ones are decided each by itself', () => {
    const words = 'a_'.repeat(50_000);
    const keys = [
      ...Array.from({ length: 3_000 }, (_, i) => `key${i}.name`),
      `${words}token`,
      `token_${words}`,
    ];
    for (const key of keys) {
      expect(recorded({ [key]: 'x' })).toEqual({ [key]: key.endsWith('token') ? '[REDACTED]' : 'x' });
    }
    expect(recorded({ constructor: 'b', toString: 'c' })).toEqual({ constructor: 'b', toString: 'c' });
  });

  it('I7: the plural of a word of form redacts texts only, and only after a secret', () => {
    const counts = { password_hashes: 3, token_values: 2, order_values: 'kept', order_hash: 'kept' };
    expect(recorded(counts)).toEqual(counts);
    expect(recorded({ password_hash: 3, password_hashes: 'x', token_values: ['x'] })).toEqual({
      password_hash: '[REDACTED]',
      password_hashes: '[REDACTED]',
      token_values: '[REDACTED]',
    });
  });

  it('I7: a word that ends in s, or goes on after a secret, is none', () => {
    const kept = { address: 'a', status: 'b', secretary: 'c', tokenx: 'd' };
    expect(recorded(kept)).toEqual(kept);
  });

  it('I7: a given word without a letter or digit redacts nothing', () => {
    expect(recorded({ line_1: 'kept', ssn: 'x' }, { redactKeys: ['', '--', 'ssn'] })).toEqual({
      line_1: 'kept',
      ssn: '[REDACTED]',
    });
  });

  it('I7: an empty set redacts nothing', () => {
    expect(recorded({ password: 'kept' }, { redactKeys: [] })).toEqual({ password: 'kept' });
  });
});
