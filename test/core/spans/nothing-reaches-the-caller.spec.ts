import { beforeEach, describe, expect, it, vi } from 'vitest';
import { type Span, SpanKind, SpanStatusCode, trace, type Tracer } from '@opentelemetry/api';
import { SpanGroup } from 'nest-lens';
import { managedSpan, setEnabledSpanGroups, type SiteOptions, traceFn, withSpan } from 'nest-lens/core';
import { lastValueFrom, Observable, of } from 'rxjs';
import { captureSpans, type CapturedSpans } from '../../support/capture-spans.js';
import { type CapturedWarnings, captureWarnings } from '../../support/capture-warnings.js';

// Whatever telemetry has to read: the work runs once, and the caller gets what it would have got without it.

let spans: CapturedSpans;
let warnings: CapturedWarnings;
beforeEach(() => {
  spans = captureSpans();
  warnings = captureWarnings();
  setEnabledSpanGroups(['orders']);
});

const refuse = (): never => {
  throw new Error('not to be read');
};

function revoked(target: object = {}): never {
  const { proxy, revoke } = Proxy.revocable(target, {});
  revoke();
  return proxy as never;
}

const SITES: [string, (options: SiteOptions, body: () => unknown) => unknown][] = [
  ['managedSpan', (options, body) => managedSpan('orders', 'work', options, body)],
  ['traceFn', (options, body) => traceFn('orders', 'work', options)(body)()],
  ['withSpan', (options, body) => withSpan('work', options, body)],
];

const BODIES: [string, () => unknown][] = [
  ['returns', () => 'done'],
  [
    'throws',
    () => {
      throw new Error('of the work');
    },
  ],
  ['resolves', async () => 'done'],
  ['rejects', () => Promise.reject(new Error('of the work'))],
  ['gives an observable', () => of('done')],
  [
    'gives an observable that fails',
    () => new Observable((subscriber) => subscriber.error(new Error('of the work'))),
  ],
];

/** What a caller gets of it: its value, or what it threw. */
async function outcomeOf(run: () => unknown): Promise<{ value?: unknown; thrown?: unknown }> {
  try {
    const result = run();
    return { value: result instanceof Observable ? await lastValueFrom(result) : await result };
  } catch (thrown) {
    return { thrown };
  }
}

/** A tracer that makes spans of its own kind. */
const tracerOf = (startSpan: () => unknown): Tracer => ({ startSpan, startActiveSpan: refuse }) as never;

const spanThat = (overrides: object): Span =>
  ({
    spanContext: () => ({ traceId: '1'.repeat(32), spanId: '2'.repeat(16), traceFlags: 1 }),
    isRecording: () => true,
    ...Object.fromEntries(
      [
        'end',
        'setAttribute',
        'setAttributes',
        'addEvent',
        'addLink',
        'setStatus',
        'updateName',
        'recordException',
      ].map((method) => [method, () => undefined]),
    ),
    ...overrides,
  }) as never;

const HOSTILE: [string, () => SiteOptions][] = [
  [
    'attributes with a getter that throws',
    () => ({
      attributes: {
        kept: 1,
        get bad() {
          return refuse();
        },
      },
    }),
  ],
  ['attributes that are a revoked proxy', () => ({ attributes: revoked() })],
  ['attributes that do not say their keys', () => ({ attributes: new Proxy({}, { ownKeys: refuse }) })],
  [
    'attributes whose values cannot be read',
    () => ({ attributes: { a: revoked([]), b: new Proxy([], { get: refuse }) as never } }),
  ],
  ['attributes that are text', () => ({ attributes: 'text' as never })],
  ['attributes that are null', () => ({ attributes: null as never })],
  ['a function that throws', () => ({ attributes: refuse })],
  ['a function that gives a revoked proxy', () => ({ attributes: () => revoked() })],
  [
    'a function that gives a getter that throws',
    () => ({ attributes: () => Object.defineProperty({}, 'a', { get: refuse, enumerable: true }) }),
  ],
  ['a function that gives nothing', () => ({ attributes: () => undefined as never })],
  ['a function that gives text', () => ({ attributes: () => 'text' as never })],
  ['a function that gives a list', () => ({ attributes: () => [1, 2] as never })],
  ['a function that gives a symbol', () => ({ attributes: () => Symbol('s') as never })],
  [
    'a function that gives a promise that rejects',
    () => ({ attributes: () => Promise.reject(new Error('late')) as never }),
  ],
  [
    'a function that throws what cannot be printed',
    () => ({
      attributes: () => {
        throw revoked();
      },
    }),
  ],
  [
    'a function that throws an error of which nothing can be read',
    () => ({
      attributes: () => {
        throw Object.defineProperty(new Error('x'), 'message', { get: refuse });
      },
    }),
  ],
  ['options that are a revoked proxy', () => revoked()],
  ['options whose members throw', () => new Proxy({}, { get: refuse, has: refuse })],
  ['a tracer that throws', () => ({ tracer: tracerOf(refuse) })],
  ['a tracer that gives nothing', () => ({ tracer: tracerOf(() => undefined) })],
  ['a tracer that gives null', () => ({ tracer: tracerOf(() => null) })],
  ['a tracer that gives an empty object', () => ({ tracer: tracerOf(() => ({})) })],
  [
    'a tracer that gives half a span',
    () => ({ tracer: tracerOf(() => ({ isRecording: () => true, end: () => undefined })) }),
  ],
  ['a tracer that gives a promise', () => ({ tracer: tracerOf(() => Promise.resolve({})) })],
  [
    'a tracer that gives a promise that rejects',
    () => ({ tracer: tracerOf(() => Promise.reject(new Error('late'))) }),
  ],
  ['a tracer that gives a revoked proxy', () => ({ tracer: tracerOf(() => revoked()) })],
  ['a tracer that is none', () => ({ tracer: {} as never })],
  ['a tracer that is a revoked proxy', () => ({ tracer: revoked() })],
  [
    'a span that throws when it is asked whether it records',
    () => ({ tracer: tracerOf(() => spanThat({ isRecording: refuse })) }),
  ],
  ['a span that throws when it is ended', () => ({ tracer: tracerOf(() => spanThat({ end: refuse })) })],
  [
    'a span that throws for its context',
    () => ({ tracer: tracerOf(() => spanThat({ spanContext: refuse })) }),
  ],
  [
    'a span that throws when it records',
    () => ({ tracer: tracerOf(() => spanThat({ recordException: refuse, setStatus: refuse })) }),
  ],
  [
    'a span whose events throw',
    () => ({ tracer: tracerOf(() => Object.defineProperty(spanThat({}), 'events', { get: refuse })) }),
  ],
  ['links that are text', () => ({ links: 'text' as never })],
  ['links that are none', () => ({ links: [undefined, null, {}, { context: null }, 5] as never })],
  ['links that are a revoked proxy', () => ({ links: revoked([]) })],
  ['a link that throws', () => ({ links: [Object.defineProperty({}, 'context', { get: refuse })] as never })],
  ['a kind that is none', () => ({ kind: Symbol('kind') as never })],
  ['an isError that throws', () => ({ isError: refuse })],
  ['an isError that is none', () => ({ isError: 'never' as never })],
  [
    'an isError that gives a promise that rejects',
    () => ({ isError: () => Promise.reject(new Error('late')) as never }),
  ],
];

describe.each(SITES)('%s', (_site, run) => {
  describe.each(BODIES)('around work that %s', (_way, work) => {
    it.each(HOSTILE)('I14: with %s', async (_what, options) => {
      const expected = await outcomeOf(work);
      const body = vi.fn(work);
      const outcome = await outcomeOf(() => run(options(), body));
      expect(outcome).toEqual(expected);
      expect(body).toHaveBeenCalledTimes(1);
      expect(spans.openCount()).toBe(0);
    });
  });

  it.each<[string, unknown]>([
    ['a symbol', Symbol('work')],
    ['undefined', undefined],
    ['an object that cannot be printed', Object.create(null)],
    ['a revoked proxy', revoked()],
  ])('I14: a span named by %s is made, and the work runs', (_kind, name) => {
    const calls: ((body: () => string) => string)[] = [
      (body) => managedSpan('orders', name as string, body),
      (body) => traceFn('orders', name as string)(body)(),
      (body) => withSpan(name as string, body),
    ];
    for (const call of calls) expect(call(() => 'done')).toBe('done');
    expect(spans.all().map((span) => typeof span.name)).toEqual(['string', 'string', 'string']);
  });
});

describe('@SpanGroup', () => {
  it.each<[string, () => never]>([
    ['throws', refuse],
    ['gives a revoked proxy', () => revoked()],
    ['gives values that cannot be read', () => ({ a: revoked([]) }) as never],
    [
      'gives a getter that throws',
      () => Object.defineProperty({}, 'a', { get: refuse, enumerable: true }) as never,
    ],
    ['gives text', () => 'text' as never],
  ])('I14: with an attributes function that %s the method runs once', (_what, attributes) => {
    const charge = vi.fn(() => 'charged');
    class Payments {
      @SpanGroup('orders', { attributes })
      charge(): string {
        return charge();
      }
    }
    expect(new Payments().charge()).toBe('charged');
    expect(charge).toHaveBeenCalledTimes(1);
    expect(spans.openCount()).toBe(0);
  });
});

describe('what can be read all the same', () => {
  it('I14: of attributes that throw, what came before is on the span, with its group', () => {
    const attributes = {
      kept: 1,
      get bad(): string {
        return refuse();
      },
      'nestlens.group': 'another',
    };
    expect(managedSpan('orders', 'work', { attributes }, () => 'done')).toBe('done');
    expect(spans.single('work').attributes).toEqual({ kept: 1, 'nestlens.group': 'orders' });
  });

  it('I14: of links that are partly none the others are on the span', () => {
    const context = { traceId: '1'.repeat(32), spanId: '2'.repeat(16), traceFlags: 1 };
    managedSpan('orders', 'work', { links: [undefined, { context }, {}] as never }, () => 'done');
    expect(spans.single('work').links.map((link) => link.context)).toEqual([context]);
  });

  it('I14: of options whose links are none the others count', () => {
    managedSpan('orders', 'work', { kind: SpanKind.CLIENT, links: 'text' as never }, () => 'done');
    expect([spans.single('work').kind, warnings.codes()]).toEqual([SpanKind.CLIENT, []]);
  });

  it('I14: where a tracer gives half a span the work gets a whole one', () => {
    const half = { isRecording: () => true, end: () => undefined };
    managedSpan('orders', 'work', { tracer: tracerOf(() => half) }, (span) => span?.updateName('other'));
    trace.disable();
    trace.setGlobalTracerProvider({ getTracer: () => tracerOf(() => ({ isRecording: () => true })) });
    managedSpan('orders', 'work of the provider', (span) => span?.end());
    expect(warnings.codes()).toEqual(['SPAN_FAILED', 'SPAN_FAILED']);
  });

  it('I14: a span that refuses an error is ended, one that refuses to end is left, and each is a warning', () => {
    const end = vi.fn();
    const fail = (name: string, span: Span): void => {
      expect(() => managedSpan('orders', name, { tracer: tracerOf(() => span) }, () => refuse())).toThrow();
    };
    fail('one', spanThat({ setStatus: refuse, end }));
    expect([end.mock.calls.length, warnings.codes()]).toEqual([1, ['SPAN_FAILED']]);
    fail('two', spanThat({ end: refuse }));
    expect(warnings.codes()).toEqual(['SPAN_FAILED', 'SPAN_FAILED']);
  });

  it('I14: a span that never stops to record is ended once', () => {
    const [end, setAttribute] = [vi.fn(), vi.fn()];
    const tracer = tracerOf(() => spanThat({ end, setAttribute }));
    managedSpan('orders', 'work', { tracer }, () => of(1)).subscribe();
    expect([end.mock.calls.length, setAttribute.mock.calls.length]).toEqual([1, 0]);
  });

  it('I14: a span whose tracer fails leaves the one above as the parent of those below', () => {
    managedSpan('orders', 'outer', (outer) =>
      managedSpan('orders', 'lost', { tracer: tracerOf(() => undefined) }, () =>
        managedSpan('orders', 'inner', () => expect(outer).toBeDefined()),
      ),
    );
    expect(spans.names()).toEqual(['inner', 'outer']);
    expect(spans.single('inner').parentSpanContext?.spanId).toBe(spans.single('outer').spanContext().spanId);
    expect(warnings.codes()).toEqual(['SPAN_FAILED']);
  });
});

describe('ATTRIBUTES_FAILED', () => {
  it('I3, I14: is said once a site, however its function is made', () => {
    for (let call = 0; call < 3; call++)
      managedSpan('orders', 'work', { attributes: () => refuse() }, () => call);
    expect(warnings.codes()).toEqual(['ATTRIBUTES_FAILED']);
    expect(warnings.single('ATTRIBUTES_FAILED').message).toContain("span 'work'");
  });

  it('I3, I14: is said for each name, and for each group of one name', () => {
    setEnabledSpanGroups(['orders', 'payment']);
    for (const [group, name] of [
      ['orders', 'a'],
      ['orders', 'b'],
      ['payment', 'a'],
      ['orders', 'a'],
    ] as const) {
      managedSpan(group, name, { attributes: () => refuse() }, () => undefined);
    }
    expect(warnings.codes()).toHaveLength(3);
  });

  it('I14: is not said without end where names are made up', () => {
    for (let call = 0; call < 3_000; call++) {
      managedSpan('orders', `work ${call}`, { attributes: () => refuse() }, () => undefined);
    }
    expect(warnings.all.length).toBeLessThanOrEqual(1_000);
    expect(spans.all()).toHaveLength(3_000);
  });

  it('I3: is not said, and nothing is read, while the group is off: not when the site is made, either', () => {
    setEnabledSpanGroups([]);
    const hostile = revoked();
    expect(managedSpan('orders', 'work', hostile, () => 1)).toBe(1);
    const traced = traceFn('orders', 'work', hostile)(() => 2);
    expect(traced()).toBe(2);
    expect(warnings.codes()).toEqual([]);
    setEnabledSpanGroups(['orders']);
    expect([traced(), traced()]).toEqual([2, 2]);
    expect(warnings.codes()).toEqual(['ATTRIBUTES_FAILED']);
  });
});

describe('a call without a function to run', () => {
  const calls: [string, () => unknown, string][] = [
    [
      'managedSpan',
      () => (managedSpan as (...args: unknown[]) => unknown)('orders', 'work'),
      "managedSpan('orders', 'work') needs a function to run, and got undefined. Write managedSpan(group, name, fn)",
    ],
    [
      'managedSpan with options',
      () => (managedSpan as (...args: unknown[]) => unknown)('orders', 'work', {}),
      'got object',
    ],
    [
      'managedSpan with a promise',
      () => (managedSpan as (...args: unknown[]) => unknown)('orders', 'work', {}, Promise.resolve()),
      'got object',
    ],
    [
      'managedSpan with null',
      () => (managedSpan as (...args: unknown[]) => unknown)('orders', Symbol('work'), null, null),
      'got null',
    ],
    [
      'traceFn',
      () => (traceFn('orders', 'work') as (fn?: unknown) => unknown)(),
      "traceFn('orders', 'work') needs a function to run, and got undefined. Write traceFn(group, name, options?)(fn)",
    ],
    [
      'withSpan',
      () => (withSpan as (...args: unknown[]) => unknown)('work'),
      "withSpan('work') needs a function to run, and got undefined. Write withSpan(name, fn)",
    ],
    ['withSpan with options', () => (withSpan as (...args: unknown[]) => unknown)('work', {}), 'got object'],
  ];

  it.each(calls)(
    'I1, I14: %s throws a TypeError that says what is wanted, on and off, and makes no span',
    (_name, call, message) => {
      for (const groups of [['orders'], []]) {
        setEnabledSpanGroups(groups);
        expect(call).toThrow(TypeError);
        expect(call).toThrow(message);
      }
      expect(spans.startedCount()).toBe(0);
    },
  );

  it('I14: its names are quoted in one line of bounded length', () => {
    const evil = `a\n\u001b[31m${'x'.repeat(100_000)}`;
    for (const call of [() => managedSpan(evil, evil, 5 as never), () => traceFn(evil, evil)(5 as never)]) {
      let message = '';
      try {
        call();
      } catch (error) {
        ({ message } = error as Error);
      }
      expect(message).toMatch(/^[ -~…]+$/);
      expect(message.length).toBeLessThan(1_000);
    }
  });

  it('I1: a TypeError of the work is its own', () => {
    for (const groups of [['orders'], []]) {
      setEnabledSpanGroups(groups);
      expect(() => managedSpan('orders', 'work', () => (undefined as unknown as () => void)())).toThrow(
        /is not a function/,
      );
    }
    expect(spans.single('work').status.code).toBe(SpanStatusCode.ERROR);
  });
});
