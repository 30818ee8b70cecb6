import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import {
  clearSpanGroupOverride,
  enabledSpanGroups,
  isSpanGroupEnabled,
  managedSpan,
  NestLensError,
  overrideSpanGroups,
  pendingSpanGroups,
  setEnabledSpanGroups,
  setSpanGroupSpec,
  SpanRegistry,
  traceFn,
} from 'nest-lens/core';
import { captureSpans } from '../../support/capture-spans.js';
import { captureWarnings, type CapturedWarnings } from '../../support/capture-warnings.js';
import { setUpForTest } from '../../support/live-telemetry.js';

const enabled = (): string[] => [...enabledSpanGroups()].sort();
const pending = (): string[] => [...pendingSpanGroups()].sort();

// Keeps the warnings that a test isn't about off the console.
beforeEach(() => {
  captureWarnings();
});

describe('the enabled set', () => {
  it('T1: before set-up nothing is enabled, whatever is registered', () => {
    SpanRegistry.register('shop', ['orders'], { default: ['orders'] });
    expect([enabled(), pending(), isSpanGroupEnabled('orders')]).toEqual([[], [], false]);
  });

  it('T2: setSpanGroupSpec swaps enabled and pending together', () => {
    SpanRegistry.register('shop', ['orders', 'cache']);
    setSpanGroupSpec('orders,tpyo');
    expect([enabled(), pending()]).toEqual([['orders'], ['tpyo']]);
    setSpanGroupSpec('cache');
    expect([enabled(), pending()]).toEqual([['cache'], []]);
    setSpanGroupSpec('');
    expect([enabled(), pending()]).toEqual([[], []]);
  });

  it('T2: it keeps the raw spec, so names that are missing now count once they register', () => {
    setSpanGroupSpec('default, Late');
    SpanRegistry.register('shop', ['orders', 'late'], { default: ['orders'] });
    expect([enabled(), pending()]).toEqual([['late', 'orders'], []]);
  });

  it.each(['tpyo', '-', '*', ',', '\u0000', '__proto__'])('T2: it never throws (%j)', (spec) => {
    expect(() => setSpanGroupSpec(spec)).not.toThrow();
    expect(enabled()).toEqual([]);
  });

  it('T3: a registry change re-resolves a kept spec; a change elsewhere leaves it alone', () => {
    setSpanGroupSpec('default');
    SpanRegistry.register('a', ['orders'], { default: ['orders'] });
    expect(enabled()).toEqual(['orders']);
    SpanRegistry.register('b', ['cache']);
    expect(enabled()).toEqual(['orders']);
    SpanRegistry.unregister('a');
    expect([enabled(), pending()]).toEqual([[], ['default']]);
  });

  it.each<[string, () => void]>([
    ['pinned', () => setEnabledSpanGroups(['cache'])],
    ['the empty string', () => setSpanGroupSpec('')],
    ['never set', () => undefined],
  ])('T3: with no kept spec (%s) a registry change does nothing and says nothing', (_case, prepare) => {
    const warnings = captureWarnings();
    prepare();
    const before = enabled();
    SpanRegistry.register('a', ['orders', 'cache'], { default: ['orders'] });
    SpanRegistry.unregister('a');
    SpanRegistry.clear();
    expect([enabled(), pending(), warnings.codes()]).toEqual([before, [], []]);
  });

  it('T4: setEnabledSpanGroups pins the set as it is, unregistered and unnormalised names included', () => {
    setEnabledSpanGroups(['orders', 'Ghost ']);
    expect(enabled()).toEqual(['Ghost ', 'orders']);
    expect([isSpanGroupEnabled('Ghost '), isSpanGroupEnabled('ghost')]).toEqual([true, false]);
  });

  it('T4: a string is one name, not its letters', () => {
    setEnabledSpanGroups('orders');
    expect(enabled()).toEqual(['orders']);
  });

  it('T4: later registrations do not change it, nor does the iterable that was given', () => {
    const groups = new Set(['orders']);
    setEnabledSpanGroups(groups);
    groups.add('cache');
    SpanRegistry.register('shop', ['orders', 'cache'], { default: ['cache'] });
    SpanRegistry.unregister('shop');
    expect(enabled()).toEqual(['orders']);
  });

  it('T4: a pin takes any iterable and replaces the pin before it', () => {
    setEnabledSpanGroups(['orders']);
    setEnabledSpanGroups(new Map([['cache', 1]]).keys());
    expect(enabled()).toEqual(['cache']);
    setEnabledSpanGroups([]);
    expect(enabled()).toEqual([]);
  });

  it('T4: a pin drops spec and pending', () => {
    setSpanGroupSpec('orders,tpyo');
    setEnabledSpanGroups([]);
    expect(pending()).toEqual([]);
    SpanRegistry.register('shop', ['orders', 'tpyo']);
    expect([enabled(), pending()]).toEqual([[], []]);
  });

  it('T5: of setSpanGroupSpec and setEnabledSpanGroups the last call wins', () => {
    SpanRegistry.register('shop', ['orders', 'cache', 'payment']);
    setEnabledSpanGroups(['cache']);
    setSpanGroupSpec('orders');
    expect(enabled()).toEqual(['orders']);
    setEnabledSpanGroups(['cache']);
    expect(enabled()).toEqual(['cache']);
    setSpanGroupSpec('payment');
    SpanRegistry.register('more', ['step']);
    expect(enabled()).toEqual(['payment']);
  });

  it('T6: after set-up a library that registers takes effect at once, and one that unregisters switches off at once', async () => {
    const spans = captureSpans();
    await setUpForTest({ spanGroups: 'default' });
    const warnings = captureWarnings();
    const work = traceFn('orders', 'orders.list')(() => 1);

    work();
    SpanRegistry.register('shop', ['orders'], { default: ['orders'] });
    work();
    SpanRegistry.unregister('shop');
    work();

    expect(spans.names()).toEqual(['orders.list']);
    expect(warnings.codes()).toContain('LATE_REGISTRATION');
  });

  it('T8: the gate neither trims nor lower-cases', () => {
    SpanRegistry.register('shop', ['Orders']);
    setSpanGroupSpec('ORDERS');
    expect(['orders', 'Orders', ' orders', 'orders '].map((name) => isSpanGroupEnabled(name))).toEqual([
      true,
      false,
      false,
      false,
    ]);
  });

  it('T8: a site normalises its group when it is defined', () => {
    const spans = captureSpans();
    SpanRegistry.register('shop', ['orders']);
    const work = traceFn(' Orders ', 'orders.list')(() => 1);
    setSpanGroupSpec('orders');
    work();
    expect(spans.only().attributes).toMatchObject({ 'nestlens.group': 'orders' });
  });

  it('T9: enabledSpanGroups and pendingSpanGroups are not live views', () => {
    SpanRegistry.register('shop', ['orders']);
    setSpanGroupSpec('orders,tpyo');
    const [wasEnabled, wasPending] = [enabledSpanGroups(), pendingSpanGroups()];
    setSpanGroupSpec('oops');
    expect([[...wasEnabled], [...wasPending]]).toEqual([['orders'], ['tpyo']]);
  });

  it('T10: when a preset that the spec names becomes empty, pending stays empty and SPEC_SELECTED_NOTHING says so', () => {
    SpanRegistry.register('engine', ['step']);
    SpanRegistry.register('rl', ['rollout'], { default: ['step'] });
    setSpanGroupSpec('default');
    const warnings = captureWarnings();
    SpanRegistry.unregister('engine');
    expect([enabled(), pending()]).toEqual([[], []]);
    expect(warnings.codes()).toEqual(['SPEC_SELECTED_NOTHING']);
  });
});

describe('overrideSpanGroups', () => {
  beforeEach(() => {
    SpanRegistry.register('shop', ['orders', 'cache', 'payment'], { default: ['orders'] });
    setSpanGroupSpec('default');
  });

  it('T7: lies over the kept spec until it is cleared', () => {
    overrideSpanGroups('cache,payment');
    expect(enabled()).toEqual(['cache', 'payment']);
    clearSpanGroupOverride();
    expect(enabled()).toEqual(['orders']);
  });

  it('T7: pending is that of the spec in force', () => {
    overrideSpanGroups('cache,tpyo');
    expect(pending()).toEqual(['tpyo']);
    clearSpanGroupOverride();
    expect(pending()).toEqual([]);
  });

  it('T7: re-resolves as the kept spec does, which is up to date when it comes back', () => {
    overrideSpanGroups('all,-orders');
    SpanRegistry.register('other', ['step'], { default: ['step'] });
    expect(enabled()).toEqual(['cache', 'payment', 'step']);
    SpanRegistry.unregister('shop');
    expect(enabled()).toEqual(['step']);
    clearSpanGroupOverride();
    expect(enabled()).toEqual(['step']);
    expect(pending()).toEqual([]);
  });

  it('T7: wildcards of the kept spec are up to date when it comes back', () => {
    setSpanGroupSpec('db_*');
    overrideSpanGroups('orders');
    SpanRegistry.register('db', ['db_query']);
    clearSpanGroupOverride();
    expect([enabled(), pending()]).toEqual([['db_query'], []]);
  });

  it('T7: a later override replaces the one before, and one clearing ends both', () => {
    overrideSpanGroups('cache');
    overrideSpanGroups('payment');
    expect(enabled()).toEqual(['payment']);
    clearSpanGroupOverride();
    expect(enabled()).toEqual(['orders']);
  });

  it('T7: clearing without an override does nothing', () => {
    clearSpanGroupOverride();
    expect(enabled()).toEqual(['orders']);
  });

  it.each<[string, () => void]>([
    ['overrideSpanGroups', () => overrideSpanGroups('cache')],
    ['overrideSpanGroups with a ttl', () => overrideSpanGroups('cache', { ttlMs: 1_000 })],
    ['clearSpanGroupOverride', () => clearSpanGroupOverride()],
  ])('T7: on a pinned process %s throws PINNED and changes nothing', (_name, call) => {
    setEnabledSpanGroups(['payment']);
    expect(call).toThrow(NestLensError);
    expect(call).toThrow(expect.objectContaining({ name: 'NestLensError', code: 'PINNED' }));
    expect(enabled()).toEqual(['payment']);
  });

  it('T7: a pin drops an override, and the next spec does not bring it back', () => {
    overrideSpanGroups('cache', { ttlMs: 60_000 });
    setEnabledSpanGroups([]);
    setSpanGroupSpec('default');
    expect(enabled()).toEqual(['orders']);
  });

  it('T7: a spec that names nothing is reported', () => {
    const warnings = captureWarnings();
    overrideSpanGroups('cahce');
    expect(warnings.codes()).toEqual(['SPEC_UNRESOLVED']);
  });

  it('T7: sites follow an override at once', () => {
    const spans = captureSpans();
    const list = traceFn('orders', 'list')(() => 1);
    const pay = traceFn('payment', 'pay')(() => 1);
    overrideSpanGroups('payment');
    list();
    pay();
    managedSpan('payment', 'inline', () => 1);
    clearSpanGroupOverride();
    list();
    pay();
    expect(spans.names()).toEqual(['pay', 'inline', 'list']);
  });

  describe('with a ttl', () => {
    beforeEach(() => {
      jest.useFakeTimers();
    });
    afterEach(() => {
      jest.useRealTimers();
    });

    it('T7: ends by itself after ttlMs', () => {
      overrideSpanGroups('cache', { ttlMs: 1_000 });
      jest.advanceTimersByTime(999);
      expect(enabled()).toEqual(['cache']);
      jest.advanceTimersByTime(1);
      expect(enabled()).toEqual(['orders']);
      expect(jest.getTimerCount()).toBe(0);
    });

    it('T7: without a ttl it does not end', () => {
      overrideSpanGroups('cache');
      expect(jest.getTimerCount()).toBe(0);
      jest.advanceTimersByTime(2 ** 33);
      expect(enabled()).toEqual(['cache']);
    });

    it('T7: a ttl longer than one timer can wait lasts its whole time', () => {
      const ttlMs = 2 ** 31 + 5_000;
      const wait = jest.spyOn(globalThis, 'setTimeout');
      overrideSpanGroups('cache', { ttlMs });
      jest.advanceTimersByTime(10_000);
      expect(enabled()).toEqual(['cache']);
      jest.advanceTimersByTime(ttlMs - 10_001);
      expect(enabled()).toEqual(['cache']);
      jest.advanceTimersByTime(1);
      expect(enabled()).toEqual(['orders']);
      // Node turns a longer delay into one of a millisecond, which would make this a busy loop.
      const delays = wait.mock.calls.map(([, delay]) => delay ?? 0);
      wait.mockRestore();
      expect(delays.length).toBeLessThanOrEqual(3);
      for (const delay of delays) expect(delay).toBeLessThan(2 ** 31);
    });

    it('T7: the end of an earlier override does not touch a later one', () => {
      overrideSpanGroups('cache', { ttlMs: 1_000 });
      overrideSpanGroups('payment', { ttlMs: 5_000 });
      jest.advanceTimersByTime(4_999);
      expect(enabled()).toEqual(['payment']);
      clearSpanGroupOverride();
      overrideSpanGroups('cache');
      jest.advanceTimersByTime(60_000);
      expect(enabled()).toEqual(['cache']);
    });

    it('T7: a pin cancels the end, and the pin stays', () => {
      overrideSpanGroups('cache', { ttlMs: 1_000 });
      setEnabledSpanGroups(['payment']);
      expect(jest.getTimerCount()).toBe(0);
      jest.advanceTimersByTime(1_000);
      expect(enabled()).toEqual(['payment']);
    });

    it('T7: when it ends, the kept spec is resolved against what is registered by then', () => {
      overrideSpanGroups('cache', { ttlMs: 1_000 });
      SpanRegistry.register('other', ['step'], { default: ['step'] });
      jest.advanceTimersByTime(1_000);
      expect(enabled()).toEqual(['orders', 'step']);
    });
  });

  it('T7: an override waiting for its end does not keep the process alive', () => {
    const timers = (): number => process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length;
    const before = timers();
    overrideSpanGroups('cache', { ttlMs: 60_000 });
    expect(timers()).toBe(before);
    const control = setTimeout(() => undefined, 60_000);
    expect(timers()).toBe(before + 1);
    clearTimeout(control);
  });
});

describe('reports about the spec', () => {
  let warnings: CapturedWarnings;
  beforeEach(() => {
    warnings = captureWarnings();
  });

  const shop = (): void =>
    SpanRegistry.register('shop', ['orders', 'cache'], { default: ['orders'], haunted: ['ghost'] });

  it('W1: a spec that names nothing here is no error: the rest applies', () => {
    shop();
    expect(() => setSpanGroupSpec('somebody_elses,orders')).not.toThrow();
    expect(enabled()).toEqual(['orders']);
  });

  it.each(['default', 'all', 'tpyo', '*', '-cache', 'orders,-orders'])(
    'W2: %j on a registry without groups is NOTHING_REGISTERED, and nothing else',
    (spec) => {
      setSpanGroupSpec(spec);
      expect(warnings.codes()).toEqual(['NOTHING_REGISTERED']);
      expect(warnings.all[0]!.message).toContain(`'${spec}'`);
    },
  );

  it('W2: a namespace of presets only registers no group', () => {
    SpanRegistry.register('presets_only', [], { default: [] });
    setSpanGroupSpec('default');
    expect(warnings.codes()).toEqual(['NOTHING_REGISTERED']);
  });

  it('W3: SPEC_UNRESOLVED names the spec, what is pending, and what the choices are, all sorted', () => {
    shop();
    SpanRegistry.register('engine', ['step']);
    warnings.take();
    setSpanGroupSpec('zebra,orders,-aardvark');
    expect(warnings.take()).toEqual(['SPEC_UNRESOLVED']);
    const { message } = warnings.only('SPEC_UNRESOLVED');
    expect(message).toContain("'zebra,orders,-aardvark'");
    expect(message).toMatch(/-aardvark\W+zebra/);
    expect(message).toMatch(/cache\W+orders\W+step/);
    expect(message).toMatch(/all\W+default\W+haunted/);
    expect(message).toMatch(/engine\W+shop/);
  });

  it('W3: it names the nearest registered name of each pending one that is close, and none of one that is not', () => {
    SpanRegistry.register('shop', ['payment', 'orders'], { per_request: ['orders'] });
    setSpanGroupSpec('per_requset,paymet,-oders,zzzzzz');
    const { message } = warnings.only('SPEC_UNRESOLVED');
    const suggestion = message.slice(message.indexOf('Did you mean'));
    const mentions = (name: string): number => message.split(name).length - 1;
    // Once in the inventory, once as the suggestion.
    expect(['per_request', 'payment', 'orders'].map(mentions)).toEqual([2, 2, 2]);
    expect(suggestion).toMatch(/per_request.*per_requset/);
    expect(suggestion).not.toContain('zzzzzz');
  });

  describe('near names in later reports', () => {
    /** The hints of the last report. */
    const hints = (): string[] =>
      [...warnings.all.at(-1)!.message.matchAll(/Did you mean '(.*?)' for '(.*?)'/g)].map(
        ([, near, name]) => `${name}: ${near}`,
      );

    it('W3, W7: are those of what was registered meanwhile, also in silence', () => {
      setSpanGroupSpec('per_requset,cache');
      warnings.take();
      SpanRegistry.register('first', ['orders']);
      expect(warnings.take()).toEqual(['SPEC_UNRESOLVED']);
      expect(hints()).toEqual([]);
      SpanRegistry.register('second', ['per_request']);
      expect(warnings.take()).toEqual([]);
      SpanRegistry.register('third', ['cache']);
      expect(hints()).toEqual(['per_requset: per_request']);
    });

    it('W3, W7: are never names that have gone, and another near one takes their place', () => {
      SpanRegistry.register('first', ['per_request', 'per_requests', 'cache']);
      setSpanGroupSpec('per_requset,orders');
      expect(hints()).toEqual(['per_requset: per_request']);
      SpanRegistry.unregister('first');
      warnings.take();
      SpanRegistry.register('second', ['per_requsets']);
      warnings.take();
      SpanRegistry.register('third', ['orders']);
      expect(hints()).toEqual(['per_requset: per_requsets']);
    });

    it('W3, W7: are searched for again when an override ends', () => {
      setSpanGroupSpec('per_requset,orders');
      SpanRegistry.register('first', ['cache']);
      overrideSpanGroups('cache');
      SpanRegistry.register('second', ['per_request', 'orders']);
      warnings.take();
      clearSpanGroupOverride();
      expect(hints()).toEqual(['per_requset: per_request']);
    });
  });

  it.each([['haunted'], ['orders,-orders'], ['default,-all'], ['-cache'], ['haunted,-orders']])(
    'W4: %j is valid but selects nothing: SPEC_SELECTED_NOTHING with the inventory',
    (spec) => {
      shop();
      warnings.take();
      setSpanGroupSpec(spec);
      expect(warnings.take()).toEqual(['SPEC_SELECTED_NOTHING']);
      const { message } = warnings.only('SPEC_SELECTED_NOTHING');
      expect(message).toContain(`'${spec}'`);
      expect(message).toMatch(/cache\W+orders/);
      expect(message).toMatch(/all\W+default\W+haunted/);
      expect(message).toMatch(/shop/);
    },
  );

  it.each([
    '',
    ' ',
    '\t\n',
    'default',
    'all',
    'orders',
    'ORDERS,all',
    'orders*',
    'all,-cache',
    'haunted,orders',
  ])('W6: %j is silent: blank, or it resolves to a group with nothing pending', (spec) => {
    shop();
    warnings.take();
    setSpanGroupSpec(spec);
    expect(warnings.take()).toEqual([]);
  });

  it.each(['', '  '])('W6: the blank spec %j is silent on an empty registry too', (spec) => {
    setSpanGroupSpec(spec);
    SpanRegistry.register('a', ['orders']);
    SpanRegistry.unregister('a');
    expect(warnings.codes()).toEqual([]);
  });

  it('W5: each register after an enabled set-up is LATE_REGISTRATION, naming the namespace, never de-duplicated', async () => {
    shop();
    warnings.take();
    await setUpForTest({ spanGroups: 'default' });
    expect(warnings.take()).toEqual([]);
    SpanRegistry.register('late_lib', ['step']);
    SpanRegistry.register('late_lib', ['step'], {}, { allowOverride: true });
    SpanRegistry.unregister('late_lib');
    SpanRegistry.register('late_lib', ['step']);
    expect(warnings.take()).toEqual(['LATE_REGISTRATION', 'LATE_REGISTRATION', 'LATE_REGISTRATION']);
    expect(warnings.all.at(-1)!.message).toContain("'late_lib'");
    SpanRegistry.unregister('late_lib');
    SpanRegistry.clear();
    expect(warnings.take()).not.toContain('LATE_REGISTRATION');
  });

  it('W5: a refused registration is not late', async () => {
    shop();
    await setUpForTest({ spanGroups: 'default' });
    warnings.take();
    expect(() => SpanRegistry.register('shop', ['x'])).toThrow();
    expect(warnings.take()).toEqual([]);
  });

  it('W5: not after a disabled set-up', async () => {
    await setUpForTest({ enabled: false });
    shop();
    expect(warnings.codes()).toEqual(['PRESET_MEMBER_UNREGISTERED']);
  });

  it('W7: a re-resolution that finds the same is silent', () => {
    shop();
    setSpanGroupSpec('default,tpyo');
    warnings.take();
    SpanRegistry.register('b', ['step']);
    SpanRegistry.unregister('b');
    SpanRegistry.register('c', ['orders'], {}, { allowOverride: true });
    expect(warnings.take()).toEqual([]);
  });

  it('W7: another pending set is reported again', () => {
    shop();
    setSpanGroupSpec('default,tpyo,oops');
    warnings.take();
    SpanRegistry.register('b', ['tpyo']);
    expect(warnings.take()).toEqual(['SPEC_UNRESOLVED']);
    SpanRegistry.register('c', ['oops']);
    expect(warnings.take()).toEqual([]);
    SpanRegistry.unregister('c');
    expect(warnings.take()).toEqual(['SPEC_UNRESOLVED']);
  });

  it('W7: going from something on to nothing on is reported, with the same pending set', () => {
    shop();
    setSpanGroupSpec('orders,tpyo');
    warnings.take();
    SpanRegistry.register('shop', ['cache', 'orders'], { orders: [] }, { allowOverride: true });
    expect(warnings.take()).toEqual(['PRESET_SHADOWS_GROUP', 'SPEC_UNRESOLVED']);
  });

  it('W7: setSpanGroupSpec always reports, the same spec too', () => {
    shop();
    warnings.take();
    setSpanGroupSpec('tpyo');
    setSpanGroupSpec('tpyo');
    expect(warnings.take()).toEqual(['SPEC_UNRESOLVED', 'SPEC_UNRESOLVED']);
  });

  it('W8: a typo reported on an empty registry is reported again, with the inventory, once something registers', () => {
    setSpanGroupSpec('tpyo');
    expect(warnings.take()).toEqual(['NOTHING_REGISTERED']);
    SpanRegistry.register('shop', ['orders']);
    expect(warnings.take()).toEqual(['SPEC_UNRESOLVED']);
    expect(warnings.only('SPEC_UNRESOLVED').message).toMatch(/orders/);
    SpanRegistry.register('other', ['cache']);
    expect(warnings.take()).toEqual([]);
  });

  it('W8: a spec that empties, recovers and empties again reports twice', () => {
    SpanRegistry.register('engine', ['step']);
    SpanRegistry.register('rl', ['rollout'], { default: ['step'] });
    setSpanGroupSpec('default');
    for (let round = 0; round < 2; round++) {
      SpanRegistry.unregister('engine');
      expect(warnings.take()).toEqual(['SPEC_SELECTED_NOTHING']);
      SpanRegistry.register('engine', ['step']);
      expect(warnings.take()).toEqual([]);
    }
  });

  it('W8: the last group leaving is reported as NOTHING_REGISTERED', () => {
    SpanRegistry.register('shop', ['orders']);
    setSpanGroupSpec('orders');
    SpanRegistry.unregister('shop');
    expect(warnings.take()).toEqual(['NOTHING_REGISTERED']);
  });
});
