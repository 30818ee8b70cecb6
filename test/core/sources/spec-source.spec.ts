import { beforeEach, describe, expect, it, vi } from 'vitest';
import {
  clearSpanGroupOverride,
  enabledSpanGroups,
  overrideSpanGroups,
  pendingSpanGroups,
  setEnabledSpanGroups,
  setSpanGroupSpec,
  setupTelemetry,
  SpanRegistry,
  type SpanGroupSpecSource,
} from 'nest-lens/core';
import { type CapturedWarnings, captureWarnings } from '../../support/capture-warnings.js';
import { until } from '../../support/lens-app.js';
import { quietConfig, setUpForTest } from '../../support/live-telemetry.js';
import { ScriptedSource } from '../../support/scripted-source.js';

vi.setConfig({ testTimeout: 20_000 });

const on = (): string => [...enabledSpanGroups()].sort().join();
const saying = (spec: unknown): ScriptedSource => new ScriptedSource((source) => source.say(spec));
const start = (specSource: SpanGroupSpecSource, spanGroups = 'orders') =>
  setUpForTest({ spanGroups }, { specSource });

let warnings: CapturedWarnings;
beforeEach(() => {
  SpanRegistry.register('shop', ['orders', 'stock', 'payment'], { default: ['orders'] });
  warnings = captureWarnings();
});

describe('a source of the spec', () => {
  it('is in force when the set-up is done, over the configured spec, and below an override', async () => {
    const source = saying('stock');
    await start(source, 'odrers');
    // The configured spec doesn't count, so nobody hears of its misspelt name.
    expect([on(), warnings.codes()]).toEqual(['stock', []]);
    source.say('payment,stock');
    expect(on()).toBe('payment,stock');
    overrideSpanGroups('orders');
    source.say('payment');
    expect(on()).toBe('orders');
    clearSpanGroupOverride();
    expect(on()).toBe('payment');
    setSpanGroupSpec('orders');
    expect(on()).toBe('payment');
    source.say(undefined);
    expect([on(), warnings.codes()]).toEqual(['orders', []]);
  });

  it('gives specs like any other: names that nothing has registered are said, and count later', async () => {
    const source = saying('stock');
    await start(source);
    source.say('stok,mail');
    expect([on(), [...pendingSpanGroups()], warnings.codes()]).toEqual([
      '',
      ['stok', 'mail'],
      ['SPEC_UNRESOLVED'],
    ]);
    expect(warnings.single('SPEC_UNRESOLVED').message).toContain("Did you mean 'stock' for 'stok'?");
    SpanRegistry.register('mail', ['mail']);
    expect(on()).toBe('mail');
    source.say('');
    expect(on()).toBe('');
  });

  it('has nothing to say while the groups are pinned, and is back with the next spec', async () => {
    const source = saying('stock');
    await start(source);
    setEnabledSpanGroups(['orders']);
    source.say('typo');
    source.say('payment');
    expect([on(), warnings.codes()]).toEqual(['orders', []]);
    setSpanGroupSpec('orders');
    expect(on()).toBe('payment');
  });

  it('that says nothing holds the set-up up for half a second, and is reported after five', async () => {
    const began = performance.now();
    const source = new ScriptedSource();
    await start(source);
    expect(performance.now() - began).toBeLessThan(2_000);
    expect([on(), warnings.codes()]).toEqual(['orders', []]);
    await until(() => warnings.codes().length > 0, 7_000);
    const { message, details } = warnings.single('SPEC_SOURCE_FAILED');
    expect(message).toMatch(
      /'script' has a problem: it has not answered for 5 seconds\. It has given no spec so far/,
    );
    expect(details).toEqual({
      source: 'script',
      hasGiven: false,
      reason: 'it has not answered for 5 seconds',
    });
    source.say('stock');
    expect([on(), warnings.codes()]).toEqual(['stock', ['SPEC_SOURCE_FAILED', 'SPEC_SOURCE_RECOVERED']]);
  });

  it.each<[string, () => unknown]>([
    [
      'throws',
      () => {
        throw new Error('no route');
      },
    ],
    ['rejects', () => Promise.reject(new Error('no route'))],
    ['rejects later', () => new Promise((_, reject) => setTimeout(() => reject(new Error('no route')), 20))],
    [
      'throws nothing',
      () => {
        throw undefined;
      },
    ],
  ])('whose watch %s is watched again, and is said once', async (_what, fail) => {
    const source: ScriptedSource = new ScriptedSource(() =>
      source.watched < 2 ? fail() : source.say('stock'),
    );
    await start(source);
    expect([on(), source.watched]).toEqual(['orders', 1]);
    const early = source.onSpec;
    await until(() => on() === 'stock', 4_000);
    expect([on(), source.watched]).toEqual(['stock', 2]);
    expect(warnings.codes()).toEqual(['SPEC_SOURCE_FAILED', 'SPEC_SOURCE_RECOVERED']);
    early('payment'); // of a call that has failed
    expect(on()).toBe('stock');
  });

  const rejected = Promise.reject(new Error('nobody awaits it'));
  rejected.catch(() => undefined);
  it.each([
    ['null', null],
    ['a number', 7],
    ['a list', ['stock']],
    ['an object', { spec: 'stock' }],
    ['a promise', rejected],
    ['a text of 100,001 characters', 'x'.repeat(100_001)],
    ['101 wildcards', Array.from({ length: 101 }, (_, at) => `a${at}*`).join()],
  ])('that gives %s keeps its last spec in force, with one warning', async (_what, nonsense) => {
    const source = saying('stock');
    await start(source);
    for (let round = 0; round < 3; round++) source.say(nonsense);
    expect([on(), warnings.codes()]).toEqual(['stock', ['SPEC_SOURCE_FAILED']]);
    expect(warnings.all[0]!.message).toMatch(
      /its spec (must be a string|has 10\d).*Its last spec stays in force/,
    );
    source.say('stock');
    source.say('payment');
    expect([on(), warnings.take()]).toEqual(['payment', ['SPEC_SOURCE_FAILED', 'SPEC_SOURCE_RECOVERED']]);
  });

  it('that loses its connection keeps its last spec in force, and says so ten times in ten minutes at most', async () => {
    const source = saying('stock');
    await start(source);
    source.onProblem(new Error('connection reset'));
    source.onProblem('no answer');
    expect([on(), warnings.take()]).toEqual(['stock', ['SPEC_SOURCE_FAILED']]);
    expect(warnings.all[0]!.message).toContain('has a problem: connection reset.');
    source.say('stock');
    expect(warnings.take()).toEqual(['SPEC_SOURCE_RECOVERED']);
    for (let round = 0; round < 1_000; round++) {
      source.onProblem(`round ${round}`);
      source.say(round % 2 ? 'orders' : 'stock');
    }
    expect(warnings.take()).toHaveLength(9 * 2);
    expect(on()).toBe('orders');
  });

  it('is ended once by the shutdown, is not heard after it, and begins again with the next set-up', async () => {
    const source = saying('stock');
    const handle = await start(source);
    const { onSpec, onProblem } = source;
    const stopping = handle.shutdown();
    expect([on(), source.stopped]).toEqual(['', 1]);
    onSpec('orders');
    onProblem('gone');
    await stopping;
    onSpec('orders');
    expect([on(), source.stopped, warnings.codes()]).toEqual(['', 1, []]);
    await start(source);
    onSpec('orders');
    expect([on(), source.watched]).toEqual(['stock', 2]);
  });

  it('whose watch takes longer than the process lives is ended when it has begun', async () => {
    let begun!: (stop: () => void) => void;
    const source = new ScriptedSource(() => new Promise((resolve) => (begun = resolve)));
    const handle = await start(source);
    await handle.shutdown();
    let ends = 0;
    begun(() => void ends++);
    await until(() => ends > 0);
    expect([ends, warnings.codes()]).toEqual([1, []]);
  });

  it.each<[string, unknown]>([
    ['returns nothing to end it', null],
    [
      'throws when it is ended',
      () => {
        throw new Error('stuck');
      },
    ],
    ['rejects when it is ended', () => Promise.reject(new Error('stuck'))],
  ])('that %s does no harm, and is said', async (_what, stop) => {
    const source = new ScriptedSource(() => {
      source.say('stock');
      return stop;
    });
    const handle = await start(source);
    expect(on()).toBe('stock');
    await handle.shutdown();
    await until(() => warnings.codes().length > 0);
    expect([on(), warnings.codes()]).toEqual(['', ['SPEC_SOURCE_NOT_ENDED']]);
  });

  it.each<[unknown, RegExp]>([
    [null, /specSource must be an object, not null/],
    ['redis', /specSource must be an object, not the string 'redis'/],
    [{}, /specSource\.name must be a string, not undefined/],
    [{ name: '', watch: () => undefined }, /specSource\.name must be a string/],
    [{ name: 'redis' }, /specSource\.watch must be a method watch\(onSpec\), not undefined/],
    [Promise.resolve(new ScriptedSource()), /specSource\.name must be a string/],
  ])('that is none makes the set-up fail: %p', async (specSource, message) => {
    await expect(setupTelemetry(quietConfig(), { specSource: specSource as never })).rejects.toThrow(message);
    await setUpForTest();
  });

  it('is not watched while telemetry is off', async () => {
    const source = saying('stock');
    const handle = await setupTelemetry(quietConfig({ enabled: false }), { specSource: source });
    await handle.shutdown();
    expect(source.watched).toBe(0);
  });
});
