// Each test looks at the one slot that all copies of the package share, so it loads copies of its own.
import { readFile } from 'node:fs/promises';
import {
  afterAll,
  afterEach,
  beforeAll,
  beforeEach,
  describe,
  expect,
  it,
  type MockInstance,
  vi,
} from 'vitest';
import { diag, DiagLogLevel } from '@opentelemetry/api';
import * as lens from 'nest-lens/core';
import { captureSpans } from '../../support/capture-spans.js';
import { captureWarnings } from '../../support/capture-warnings.js';
import { compileCore, type CompiledCore } from '../../support/compiled-core.js';
import { KeepingExporter } from '../../support/keeping-exporter.js';
import { quietConfig, setUpForTest } from '../../support/live-telemetry.js';

const SLOT = Symbol.for('nest-lens.state.1');

/** A second copy of the package in this process: the same code, loaded anew. */
async function anotherCopy(): Promise<typeof lens> {
  vi.resetModules();
  const copy = await import('nest-lens/core');
  expect(copy.managedSpan).not.toBe(lens.managedSpan);
  return copy;
}

function slotKeys(): string[] {
  return Object.getOwnPropertySymbols(globalThis)
    .map((symbol) => Symbol.keyFor(symbol) ?? '')
    .filter((key) => key.startsWith('nest-lens'));
}

describe('the slot', () => {
  it('R1: is the only one, not enumerable, and holds the protocol and the version of its creator', async () => {
    expect(slotKeys()).toEqual(['nest-lens.state.1']);
    const descriptor = Object.getOwnPropertyDescriptor(globalThis, SLOT)!;
    expect(descriptor.enumerable).toBe(false);
    const manifest = JSON.parse(
      await readFile(new URL('../../../package.json', import.meta.url), 'utf8'),
    ) as {
      version: string;
    };
    expect(descriptor.value).toMatchObject({ protocol: 1, version: manifest.version });
    expect(Object.keys(globalThis).some((key) => /nest.?lens/i.test(key))).toBe(false);
  });

  it('R1: holds data only: plain objects, maps, sets and what the application gave', async () => {
    captureWarnings();
    await setUpForTest({ spanGroups: 'default' }, { spanExporter: new KeepingExporter() });
    lens.SpanRegistry.register('shop', ['orders'], { default: ['orders'] });
    lens.traceFn('orders', 'work')(() => 1)();
    lens.overrideSpanGroups('all', { ttlMs: 60_000 });
    const allowed = new Set(['Object', 'Map', 'Set', 'Array', 'Timeout', 'Promise', 'WeakSet', 'WeakMap']);
    const seen = new Set<unknown>();
    const classes = new Set<string>();
    const visit = (value: unknown, path: string): void => {
      if (typeof value === 'function') classes.add(`${path}: a function`);
      if (typeof value !== 'object' || value === null || seen.has(value)) return;
      seen.add(value);
      const name = (Object.getPrototypeOf(value) as object | null)?.constructor.name ?? 'Object';
      if (!allowed.has(name)) classes.add(`${path}: ${name}`);
      if (name === 'Timeout' || name === 'Promise') return;
      const entries =
        value instanceof Map || value instanceof Set ? [...value.entries()] : Object.entries(value);
      for (const [key, member] of entries as [unknown, unknown][]) {
        if (!['logger', 'defaultLogger', 'forceFlush', 'isAdmitted', 'noteOffCall'].includes(String(key)))
          visit(member, `${path}.${String(key)}`);
      }
    };
    visit((globalThis as Record<symbol, unknown>)[SLOT], 'state');
    expect([...classes]).toEqual([]);
    expect(seen.size).toBeGreaterThan(10);
  });
});

describe('two copies of the package', () => {
  it('R1: share one registry', async () => {
    lens.SpanRegistry.register('first', ['orders'], { default: ['orders'] });
    const copy = await anotherCopy();
    expect([...copy.SpanRegistry.groups()]).toEqual(['orders']);
    copy.SpanRegistry.register('second', ['cache'], { default: ['cache'] });
    expect(lens.SpanRegistry.namespaces()).toEqual(['first', 'second']);
    expect([...lens.SpanRegistry.resolve('default').enabled].sort()).toEqual(['cache', 'orders']);
    expect(() => copy.SpanRegistry.register('first', ['x'])).toThrow(
      expect.objectContaining({ name: 'SpanRegistryError', code: 'NAMESPACE_REGISTERED' }),
    );
    lens.SpanRegistry.unregister('second');
    expect(copy.SpanRegistry.namespaces()).toEqual(['first']);
    copy.SpanRegistry.clear();
    expect(lens.SpanRegistry.namespaces()).toEqual([]);
    expect(slotKeys()).toEqual(['nest-lens.state.1']);
  });

  it('T2: share spec, gates, override and pin', async () => {
    const spans = captureSpans();
    lens.SpanRegistry.register('shop', ['orders', 'cache']);
    const siteOfFirst = lens.traceFn('orders', 'first')(() => 1);
    const copy = await anotherCopy();
    const siteOfSecond = copy.traceFn('orders', 'second')(() => 1);
    const callBoth = (): string[] => {
      spans.clear();
      siteOfFirst();
      siteOfSecond();
      return spans.names();
    };
    expect(callBoth()).toEqual([]);
    lens.setSpanGroupSpec('orders');
    expect([callBoth(), copy.isSpanGroupEnabled('orders')]).toEqual([['first', 'second'], true]);
    copy.overrideSpanGroups('cache');
    expect([callBoth(), lens.isSpanGroupEnabled('cache')]).toEqual([[], true]);
    lens.clearSpanGroupOverride();
    expect(callBoth()).toEqual(['first', 'second']);
    copy.setEnabledSpanGroups([]);
    expect(callBoth()).toEqual([]);
    expect(() => lens.overrideSpanGroups('all')).toThrow(expect.objectContaining({ code: 'PINNED' }));
  });

  it('R6: warn to the logger that either set', async () => {
    lens.SpanRegistry.register('first', ['orders']);
    const warnings = captureWarnings();
    const copy = await anotherCopy();
    copy.SpanRegistry.register('second', ['orders']);
    expect(warnings.codes()).toEqual(['GROUP_COLLISION']);
  });

  it('H1: share the guard, and one set-up serves both', async () => {
    lens.SpanRegistry.register('shop', ['orders']);
    const exporter = new KeepingExporter();
    const handle = await setUpForTest({}, { spanExporter: exporter });
    const copy = await anotherCopy();
    await expect(copy.setupTelemetry(quietConfig())).rejects.toMatchObject({
      name: 'TelemetryAlreadySetUpError',
    });
    copy.managedSpan('orders', 'of the copy', () => undefined);
    captureWarnings();
    await handle.shutdown();
    expect(exporter.names).toEqual(['of the copy']);
    const second = await copy.setupTelemetry(quietConfig());
    expect(second.mode).toBe('own');
    await second.shutdown();
  });
});

describe('another protocol in the process', () => {
  const FOREIGN = Symbol.for('nest-lens.state.2');
  const messages: string[] = [];
  let consoleWarn: MockInstance<typeof console.warn>;

  beforeEach(() => {
    messages.length = 0;
    const note = (...parts: unknown[]): void => void messages.push(parts.map(String).join(' '));
    consoleWarn = vi.spyOn(console, 'warn').mockImplementation(note);
    diag.setLogger(
      { error: note, warn: note, info: note, debug: note, verbose: note },
      { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true },
    );
    Object.defineProperty(globalThis, FOREIGN, {
      value: { protocol: 2, version: '9.9.9' },
      configurable: true,
    });
    // As in a process in which the other one was first.
    Reflect.deleteProperty(globalThis, SLOT);
  });
  afterEach(() => {
    Reflect.deleteProperty(globalThis, FOREIGN);
    consoleWarn.mockRestore();
  });

  it('R1: gives one message that names both versions, and each goes on by itself', async () => {
    const copy = await anotherCopy();
    copy.SpanRegistry.register('shop', ['orders']);
    copy.setSpanGroupSpec('orders');
    copy.SpanRegistry.register('other', ['cache']);
    expect(messages).toHaveLength(1);
    expect(messages[0]).toContain('9.9.9');
    expect(messages[0]).toMatch(/\b0\.\d+\.\d+\b/);
    expect(messages[0]).toContain('nest-lens.state.2');
    expect(copy.isSpanGroupEnabled('orders')).toBe(true);
    expect((globalThis as Record<symbol, unknown>)[FOREIGN]).toEqual({ protocol: 2, version: '9.9.9' });
  });

  it('R1: a slot of our own key but another shape is not written into', async () => {
    Reflect.deleteProperty(globalThis, FOREIGN);
    const strange = Object.freeze({ protocol: 7, version: '8.8.8' });
    Object.defineProperty(globalThis, SLOT, { value: strange, configurable: true });
    const copy = await anotherCopy();
    copy.SpanRegistry.register('shop', ['orders']);
    copy.setSpanGroupSpec('orders');
    expect(copy.isSpanGroupEnabled('orders')).toBe(true);
    expect(messages.filter((message) => message.includes('8.8.8'))).toHaveLength(1);
    expect((globalThis as Record<symbol, unknown>)[SLOT]).toBe(strange);
    Reflect.deleteProperty(globalThis, SLOT);
  });
});

describe('in a process of its own', () => {
  let compiled: CompiledCore;
  beforeAll(async () => {
    compiled = await compileCore();
  });
  afterAll(() => compiled.remove());

  it('R1: two copies in one process, loaded from different addresses, share one registry', async () => {
    const { stdout } = await compiled.run(`
      const [a, b] = [await import(core), await import(copy)];
      a.SpanRegistry.register('shop', ['orders']);
      console.log(a.managedSpan !== b.managedSpan, b.SpanRegistry.namespaces().join());`);
    expect(stdout.trim()).toBe('true shop');
  });

  it('R1: where globalThis takes no property, the copy works by itself', async () => {
    const { stdout, stderr } = await compiled.run(`
      Object.preventExtensions(globalThis);
      const lens = await import(core);
      lens.SpanRegistry.register('shop', ['orders']);
      lens.setSpanGroupSpec('orders');
      console.log(lens.isSpanGroupEnabled('orders'), lens.managedSpan('orders', 'work', () => 'done'));`);
    expect([stdout.trim(), stderr]).toEqual(['true done', '']);
  });
});
