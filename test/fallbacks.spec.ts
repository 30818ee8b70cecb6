import { readFile } from 'node:fs/promises';
import { describe, expect, it, vi } from 'vitest';
import { INVALID_SPAN_CONTEXT, isSpanContextValid, SpanStatusCode, trace } from '@opentelemetry/api';
import ts from 'typescript';
import * as fallbacks from 'nest-lens/fallbacks';
import * as core from 'nest-lens/core';

const MIRRORED = [
  'SpanRegistry',
  'defineSpanGroups',
  'isSpanGroupEnabled',
  'managedSpan',
  'traceFn',
  'withSpan',
  'safeSetSpanAttributes',
  'SpanGroup',
] as const;

describe('nest-lens/fallbacks', () => {
  it('F1: mirrors the names that a library needs', () => {
    expect(Object.keys(fallbacks)).toEqual(expect.arrayContaining([...MIRRORED]));
  });

  it('F1: imports nothing at all, types included', async () => {
    const text = await readFile(new URL('../src/fallbacks.ts', import.meta.url), 'utf8');
    // What the compiler itself takes for an import: statements, re-exports, require, import() and import types.
    const { importedFiles, referencedFiles, typeReferenceDirectives } = ts.preProcessFile(text, true, true);
    expect([importedFiles, referencedFiles, typeReferenceDirectives]).toEqual([[], [], []]);
    expect(ts.preProcessFile("export { a } from 'b'; void import('c');").importedFiles).toHaveLength(2);
  });

  it('F4: functions take as many arguments as the real ones', () => {
    for (const name of MIRRORED) {
      if (name === 'SpanRegistry' || name === 'SpanGroup') continue;
      expect([name, fallbacks[name].length]).toEqual([name, core[name].length]);
    }
    const methods = Object.keys(core.SpanRegistry).sort() as (keyof typeof core.SpanRegistry)[];
    expect(Object.keys(fallbacks.SpanRegistry).sort()).toEqual(methods);
    for (const name of methods) {
      expect([name, fallbacks.SpanRegistry[name].length]).toEqual([name, core.SpanRegistry[name].length]);
    }
  });
});

describe('the registry of the fallbacks', () => {
  const { SpanRegistry } = fallbacks;

  it('F2: accepts and forgets', () => {
    SpanRegistry.register('shop', ['orders'], { default: ['orders'] }, { allowOverride: true });
    SpanRegistry.register('shop', ['orders']);
    expect([...SpanRegistry.groups()]).toEqual([]);
    expect(SpanRegistry.namespaces()).toEqual([]);
    expect([...SpanRegistry.presets()].map(([name, members]) => [name, [...members]])).toEqual([['all', []]]);
    expect(fallbacks.isSpanGroupEnabled('orders')).toBe(false);
  });

  it('F2: never throws, whatever the real one refuses', () => {
    expect(() => {
      SpanRegistry.register('', ['']);
      SpanRegistry.register('shop', ['all'], { all: ['all'] });
      SpanRegistry.register('shop', ['orders'], undefined, undefined);
      SpanRegistry.register('shop', {
        [Symbol.iterator]: () => {
          throw new Error('not even read');
        },
      });
      SpanRegistry.unregister('never registered');
      SpanRegistry.clear();
    }).not.toThrow();
  });

  it.each<[string, string[]]>([
    ['', []],
    [' , ', []],
    ['default', ['default']],
    [' Orders , NOPE,,orders', ['nope', 'orders']],
    ['all', ['all']],
    ['db_*,-Cache', ['-cache', 'db_*']],
    ['__proto__,constructor', ['__proto__', 'constructor']],
  ])('F2: resolve(%j) is everything pending, normalised', (spec, pending) => {
    const resolved = SpanRegistry.resolve(spec);
    expect([[...resolved.enabled], [...resolved.pending].sort()]).toEqual([[], pending]);
  });

  it.each([undefined, null, 5, Symbol('s'), ['orders'], Object.create(null)])(
    'F2: resolve never throws, nor for what is not a string (row %#)',
    (spec) => {
      const { enabled, pending } = SpanRegistry.resolve(spec as never);
      expect([enabled.size, pending.size]).toEqual([0, 0]);
    },
  );

  it('F2: what one call hands out does not reach the next', () => {
    (SpanRegistry.groups() as Set<string>).add('evil');
    (SpanRegistry.namespaces() as string[]).push('evil');
    (SpanRegistry.presets() as Map<string, Set<string>>).get('all')?.add('evil');
    (SpanRegistry.presets() as Map<string, Set<string>>).set('evil', new Set());
    (SpanRegistry.resolve('').enabled as Set<string>).add('evil');
    expect([
      SpanRegistry.groups().size,
      SpanRegistry.namespaces().length,
      SpanRegistry.presets().size,
    ]).toEqual([0, 0, 1]);
    expect([SpanRegistry.presets().get('all')!.size, SpanRegistry.resolve('').enabled.size]).toEqual([0, 0]);
  });
});

describe('the definitions of the fallbacks', () => {
  const given = {
    namespace: 'Shop',
    groups: [' orderRead ', 'orders'],
    presets: { default: ['orders'] },
    allowOverride: true,
  } as const;

  it('F1: are what the real ones are, but for what they register', () => {
    const [real, fallback] = [core.defineSpanGroups(given), fallbacks.defineSpanGroups(given)];
    expect(JSON.stringify(fallback)).toBe(JSON.stringify(real));
    expect(fallback.group(' orderRead ')).toBe(real.group(' orderRead '));
    const least = { namespace: 'least', groups: ['a'] };
    expect(JSON.stringify(fallbacks.defineSpanGroups(least))).toBe(
      JSON.stringify(core.defineSpanGroups(least)),
    );
  });

  it('F2: register() accepts and forgets, however often', () => {
    const shop = fallbacks.defineSpanGroups(given);
    shop.register();
    shop.register();
    expect(() => fallbacks.defineSpanGroups({ namespace: '', groups: ['all', ''] }).register()).not.toThrow();
    expect(fallbacks.SpanRegistry.groups().size).toBe(0);
    expect(core.SpanRegistry.namespaces()).toEqual([]);
    expect(fallbacks.managedSpan(shop.group('orders'), 'orders.list', (span) => span)).toBeUndefined();
  });
});

describe('the sites of the fallbacks', () => {
  it('F3: traceFn hands back the very same function', () => {
    const fn = (a: number): number => a;
    expect(fallbacks.traceFn('orders', 'work')(fn)).toBe(fn);
    expect(fallbacks.traceFn('orders', 'work', { attributes: () => ({}) })(fn)).toBe(fn);
  });

  it('F3: managedSpan runs the body with undefined and hands its result back', () => {
    const result = {};
    const body = vi.fn(() => result);
    const attributes = vi.fn(() => ({}));
    expect(fallbacks.managedSpan('orders', 'work', body)).toBe(result);
    expect(fallbacks.managedSpan('orders', 'work', { attributes }, body)).toBe(result);
    expect(body.mock.calls).toEqual([[undefined], [undefined]]);
    expect(attributes).not.toHaveBeenCalled();
    const error = Symbol('thrown');
    expect(() =>
      fallbacks.managedSpan('orders', 'work', () => {
        throw error;
      }),
    ).toThrow();
  });

  it('F3: withSpan runs the body with a span that takes every call of a real one and records nothing', () => {
    const result = {};
    const seen = fallbacks.withSpan('job', (span) => {
      const chained = span
        .setAttribute('a', 1)
        .setAttributes({ b: 'x' })
        .addEvent('e', { c: 1 })
        .addLink({ context: INVALID_SPAN_CONTEXT })
        .addLinks([])
        .setStatus({ code: SpanStatusCode.ERROR, message: 'm' })
        .updateName('other');
      span.recordException(new Error('recorded'));
      span.end();
      expect(chained).toBe(span);
      expect(span.isRecording()).toBe(false);
      expect(isSpanContextValid(span.spanContext())).toBe(false);
      return result;
    });
    expect(seen).toBe(result);
    expect(fallbacks.withSpan('job', { attributes: { a: 1 } }, () => 2)).toBe(2);
  });

  it("F3: the inert span has every method of OpenTelemetry's own", () => {
    const real = trace.wrapSpanContext(INVALID_SPAN_CONTEXT);
    const methods = Object.getOwnPropertyNames(Object.getPrototypeOf(real)).filter(
      (name) => name !== 'constructor' && !name.startsWith('_'),
    );
    expect(methods.length).toBeGreaterThan(8);
    fallbacks.withSpan('job', (span) => {
      for (const method of methods)
        expect([method, typeof span[method as 'end']]).toEqual([method, 'function']);
    });
  });

  it('F2: nothing is ever on, and attributes are not looked at', () => {
    fallbacks.SpanRegistry.register('shop', ['orders'], { default: ['orders'] });
    expect(['orders', 'default', 'all', ''].map((name) => fallbacks.isSpanGroupEnabled(name))).toEqual([
      false,
      false,
      false,
      false,
    ]);
    const unreadable = new Proxy(
      {},
      {
        get: () => {
          throw new Error('read');
        },
        ownKeys: () => {
          throw new Error('read');
        },
      },
    );
    expect(() => fallbacks.safeSetSpanAttributes(undefined, unreadable)).not.toThrow();
    expect(() => fallbacks.safeSetSpanAttributes(undefined, {}, { redactKeys: [] })).not.toThrow();
  });

  it('F1: SpanGroup decorates classes and methods and leaves them as they are', () => {
    class Plain {
      list(): number {
        return 1;
      }
    }
    const descriptor = Object.getOwnPropertyDescriptor(Plain.prototype, 'list')!;
    expect(fallbacks.SpanGroup('orders', { name: 'x' })(Plain.prototype, 'list', descriptor)).toBeUndefined();
    expect(fallbacks.SpanGroup('orders')(Plain)).toBeUndefined();

    @fallbacks.SpanGroup('orders')
    class Decorated {
      @fallbacks.SpanGroup('cache')
      value(): number {
        return 2;
      }
    }
    expect([new Decorated().value(), Decorated.name, Decorated.prototype.value.name]).toEqual([
      2,
      'Decorated',
      'value',
    ]);
  });
});
