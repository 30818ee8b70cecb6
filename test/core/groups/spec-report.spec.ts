import { beforeEach, describe, expect, it } from 'vitest';
import {
  clearSpanGroupOverride,
  enabledSpanGroups,
  type NestLensConfig,
  nestLensConfigFromEnv,
  overrideSpanGroups,
  setSpanGroupSpec,
  setupTelemetry,
  SpanRegistry,
  type TelemetryHandle,
} from 'nest-lens/core';
import { registerFoundGroups } from '../../../src/core/groups/register-found-groups.js';
import { OF_INSTRUMENTATIONS } from '../../../src/core/groups/registration-origin.js';
import { captureWarnings, type CapturedWarnings } from '../../support/capture-warnings.js';
import { setUpForTest } from '../../support/live-telemetry.js';

const enabled = (): string[] => [...enabledSpanGroups()].sort();

// Keeps the warnings that a test isn't about off the console.
beforeEach(() => {
  captureWarnings();
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

  it('W2: it says that groups are to come where instrumentations are gated', () => {
    setSpanGroupSpec('pg');
    expect(warnings.all.at(-1)!.details).not.toHaveProperty('isAwaited');
    registerFoundGroups('instrumentations', {
      groups: [],
      presets: {},
      origin: { api: OF_INSTRUMENTATIONS },
    });
    setSpanGroupSpec('pg');
    expect(warnings.take()).toEqual(['NOTHING_REGISTERED', 'NOTHING_REGISTERED']);
    expect(warnings.all.at(-1)!.details).toEqual({ spec: 'pg', isAwaited: true });
  });

  it('W3: SPEC_UNRESOLVED names the spec, what is pending, and what the choices are, all sorted', () => {
    shop();
    SpanRegistry.register('engine', ['step']);
    warnings.take();
    setSpanGroupSpec('zebra,orders,-aardvark');
    expect(warnings.take()).toEqual(['SPEC_UNRESOLVED']);
    const { message } = warnings.single('SPEC_UNRESOLVED');
    expect(message).toContain("'zebra,orders,-aardvark'");
    expect(message).toMatch(/-aardvark\W+zebra/);
    expect(message).toMatch(/cache\W+orders\W+step/);
    expect(message).toMatch(/all\W+default\W+haunted/);
    expect(message).toMatch(/engine\W+shop/);
  });

  it('W3: it names the nearest registered name of each pending one that is close, and none of one that is not', () => {
    SpanRegistry.register('shop', ['payment', 'orders'], { per_request: ['orders'] });
    setSpanGroupSpec('per_requset,paymet,-oders,zzzzzz');
    const { message } = warnings.single('SPEC_UNRESOLVED');
    const suggestion = message.slice(message.indexOf('Did you mean'));
    const mentions = (name: string): number => message.split(name).length - 1;
    // Once in the inventory, once as the suggestion.
    expect(['per_request', 'payment', 'orders'].map(mentions)).toEqual([2, 2, 2]);
    expect(suggestion).toMatch(/per_request.*per_requset/);
    expect(suggestion).not.toContain('zzzzzz');
  });

  it('W3: the near name of an exclusion is an exclusion', () => {
    SpanRegistry.register('shop', ['payment', 'orders']);
    setSpanGroupSpec('all,-oders');
    expect(warnings.single('SPEC_UNRESOLVED').details).toMatchObject({ nearest: { '-oders': '-orders' } });
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

  it.each([['haunted'], ['orders,-orders'], ['default,-all'], ['haunted,-orders']])(
    'W4: %j is valid but selects nothing: SPEC_SELECTED_NOTHING with the inventory',
    (spec) => {
      shop();
      warnings.take();
      setSpanGroupSpec(spec);
      expect(warnings.take()).toEqual(['SPEC_SELECTED_NOTHING']);
      const { message } = warnings.single('SPEC_SELECTED_NOTHING');
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

  it.each(['-all', '-cache', '-*', ' - Default , -db_*', '-haunted'])(
    'W4: %j takes away only, which is meant: nothing is on, in silence',
    (spec) => {
      SpanRegistry.register('db', ['db_query']);
      shop();
      warnings.take();
      setSpanGroupSpec(spec);
      SpanRegistry.register('other', ['fresh']);
      expect([warnings.take(), enabled()]).toEqual([[], []]);
    },
  );

  it('W3: an exclusion of what nobody has registered is said, also alone', () => {
    shop();
    warnings.take();
    setSpanGroupSpec('-cahce');
    expect(warnings.take()).toEqual(['SPEC_UNRESOLVED']);
  });

  describe('with other signs than commas between the entries', () => {
    it.each([
      ['orders;cache', 'orders,cache'],
      ['orders cache', 'orders,cache'],
      ['orders ; cache', 'orders,cache'],
      ['Orders|CACHE', 'orders,cache'],
      ['orders\ncache', 'orders,cache'],
      ['-orders;cache', '-orders,cache'],
      ['db_*;orders', 'db_*,orders'],
    ])('W3: %j is one name that nobody has, and %j is proposed', (spec, proposed) => {
      shop();
      warnings.take();
      setSpanGroupSpec(spec);
      expect(warnings.take()).toEqual(['SPEC_UNRESOLVED']);
      const { message } = warnings.single('SPEC_UNRESOLVED');
      expect(message).toContain(`Did you mean '${proposed}' for `);
      expect(message).toContain('Entries are separated by commas.');
    });

    it('W3: a near name goes before that, and commas are spoken of only where they are missing', () => {
      SpanRegistry.register('odd', ['my group']);
      setSpanGroupSpec('my gruop,tpyo');
      const { message } = warnings.single('SPEC_UNRESOLVED');
      expect(message).toContain("Did you mean 'my group' for 'my gruop'?");
      expect(message).not.toContain('comma');
    });
  });

  describe('with no spec set', () => {
    const config = { ...nestLensConfigFromEnv({ env: {} }), enabled: true, exporter: 'none' as const };
    const setUp = (given: NestLensConfig): Promise<TelemetryHandle> =>
      setupTelemetry({ ...given, metricsEnabled: false });

    it('W3: and no preset default, it says that none is set, and not to correct it', async () => {
      SpanRegistry.register('shop', ['orders'], { per_request: ['orders'] });
      const handle = await setUp(config);
      const { message } = warnings.single('SPEC_UNRESOLVED');
      expect(message).toMatch(/^No span group spec is set, so it is 'default'/);
      expect(message).toContain('Set NEST_LENS_SPAN_GROUPS');
      expect(message).toMatch(/Registered groups: \[orders\]. Presets: \[all, per_request\]/);
      expect(message).not.toMatch(/correct it|Did you mean/);
      SpanRegistry.register('late', ['fresh'], { default: ['fresh'] });
      expect(enabled()).toEqual(['fresh']);
      await handle.shutdown();
    });

    it('W3: an override, or a spec that somebody sets, is spoken of as written', async () => {
      SpanRegistry.register('shop', ['orders']);
      const handle = await setUp(config);
      warnings.take();
      overrideSpanGroups('default');
      setSpanGroupSpec('defualt');
      for (const { message } of warnings.all.slice(1)) expect(message).toMatch(/^Span group spec 'def/);
      expect(warnings.take()).toEqual(['SPEC_UNRESOLVED', 'SPEC_UNRESOLVED']);
      await handle.shutdown();
    });

    it.each([
      ['a variable', nestLensConfigFromEnv({ env: { NEST_LENS_SPAN_GROUPS: 'default' } })],
      ['the configuration', { ...config, spanGroups: 'default', origins: undefined }],
    ])('W3: default from %s is spoken of as written', async (_where, given) => {
      SpanRegistry.register('shop', ['orders']);
      const handle = await setUp({ ...given, enabled: true, exporter: 'none' });
      expect(warnings.single('SPEC_UNRESOLVED').message).toMatch(/^Span group spec 'default' names/);
      await handle.shutdown();
    });
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
    expect(warnings.single('SPEC_UNRESOLVED').message).toMatch(/orders/);
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
