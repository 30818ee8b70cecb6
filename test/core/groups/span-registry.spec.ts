import { beforeEach, describe, expect, it } from 'vitest';
import {
  enabledSpanGroups,
  isSpanGroupEnabled,
  setEnabledSpanGroups,
  setSpanGroupSpec,
  SpanRegistry,
  SpanRegistryError,
} from 'nest-lens/core';
import { readDefinition } from '../../../src/core/groups/span-group-definition.js';
import { registerDefinition } from '../../../src/core/groups/span-registry.js';
import { captureWarnings } from '../../support/capture-warnings.js';

/** Everything that can be read from the registry, as plain sorted data. */
function contents() {
  return {
    groups: [...SpanRegistry.groups()].sort(),
    namespaces: [...SpanRegistry.namespaces()],
    presets: presetsAsObject(),
    enabled: [...enabledSpanGroups()].sort(),
  };
}

function presetsAsObject(): Record<string, string[]> {
  return Object.fromEntries(
    [...SpanRegistry.presets()].map(([name, members]) => [name, [...members].sort()]),
  );
}

function resolved(spec: string): { enabled: string[]; pending: string[] } {
  const { enabled, pending } = SpanRegistry.resolve(spec);
  return { enabled: [...enabled].sort(), pending: [...pending].sort() };
}

/** The error a call throws; fails the test when it throws none. */
function thrownBy(fn: () => void): SpanRegistryError {
  try {
    fn();
  } catch (error) {
    return error as SpanRegistryError;
  }
  throw new Error('nothing was thrown');
}

// Keeps the warnings that a test isn't about off the console.
beforeEach(() => {
  captureWarnings();
});

describe('SpanRegistry, empty', () => {
  it('R1: starts with no groups, no namespaces, and only the preset all, of nothing', () => {
    expect(contents()).toEqual({ groups: [], namespaces: [], presets: { all: [] }, enabled: [] });
  });
});

describe('SpanRegistry.register', () => {
  function* generated(...names: string[]): Generator<string> {
    yield* names;
  }

  it.each([
    ['arrays', () => ['orders', 'cache'], () => ['orders']],
    ['sets', () => new Set(['orders', 'cache']), () => new Set(['orders'])],
    ['generators', () => generated('orders', 'cache'), () => generated('orders')],
    [
      'map keys',
      () =>
        new Map([
          ['orders', 1],
          ['cache', 2],
        ]).keys(),
      () => new Map([['orders', 1]]).keys(),
    ],
  ])('R2: takes groups and preset members from %s', (_kind, groups, members) => {
    const warnings = captureWarnings();
    SpanRegistry.register('shop', groups(), { default: members() });
    expect(contents()).toMatchObject({
      groups: ['cache', 'orders'],
      presets: { all: ['cache', 'orders'], default: ['orders'] },
    });
    expect(warnings.codes()).toEqual([]);
  });

  it('R2: presets and options may be left out', () => {
    SpanRegistry.register('shop', ['orders']);
    SpanRegistry.register('other', ['cache'], undefined, {});
    expect(contents()).toMatchObject({ groups: ['cache', 'orders'], namespaces: ['other', 'shop'] });
  });

  it('R2: an iterable that throws half-way changes nothing', () => {
    const broken = function* (): Generator<string> {
      yield 'orders';
      throw new Error('half-way');
    };
    SpanRegistry.register('shop', ['payment']);
    const before = contents();
    expect(() => SpanRegistry.register('other', broken())).toThrow('half-way');
    expect(() => SpanRegistry.register('other', ['x'], { default: broken() })).toThrow('half-way');
    expect(() => SpanRegistry.register('shop', broken(), {}, { allowOverride: true })).toThrow('half-way');
    expect(contents()).toEqual(before);
  });

  it('R2: a generator that registers another namespace while it is read loses neither', () => {
    const nesting = function* (): Generator<string> {
      yield 'orders';
      SpanRegistry.register('inner', ['cache']);
      yield 'payment';
    };
    SpanRegistry.register('outer', nesting());
    expect(contents()).toMatchObject({
      groups: ['cache', 'orders', 'payment'],
      namespaces: ['inner', 'outer'],
    });
  });

  it('R3: trims and lower-cases group names, preset names and members', () => {
    const warnings = captureWarnings();
    SpanRegistry.register('shop', [' Orders ', 'CACHE\n'], { '\tDefault ': [' ORDERS'] });
    expect(contents()).toMatchObject({
      groups: ['cache', 'orders'],
      presets: { all: ['cache', 'orders'], default: ['orders'] },
    });
    expect(warnings.codes()).toEqual([]);
  });

  it('R3: keeps the namespace as it was given', () => {
    SpanRegistry.register('Shop', ['orders']);
    SpanRegistry.register('shop', ['cache']);
    expect(SpanRegistry.namespaces()).toEqual(['Shop', 'shop']);
    expect(thrownBy(() => SpanRegistry.unregister('SHOP')).code).toBe('NAMESPACE_NOT_REGISTERED');
  });

  describe('refusals', () => {
    const refusals: [string, string, () => void][] = [
      ['an empty namespace', 'EMPTY_NAMESPACE', () => SpanRegistry.register('', ['x'])],
      ['an empty group name', 'EMPTY_GROUP_NAME', () => SpanRegistry.register('new', ['x', ''])],
      ['a blank group name', 'EMPTY_GROUP_NAME', () => SpanRegistry.register('new', [' \t\n'])],
      ['a group named all', 'RESERVED_NAME', () => SpanRegistry.register('new', ['all'])],
      ['a group named all once normalised', 'RESERVED_NAME', () => SpanRegistry.register('new', [' ALL '])],
      ['a preset named all', 'RESERVED_NAME', () => SpanRegistry.register('new', ['x'], { all: ['x'] })],
      [
        'a preset named all once normalised',
        'RESERVED_NAME',
        () => SpanRegistry.register('new', [], { ' All ': [] }),
      ],
      ['a registered namespace', 'NAMESPACE_REGISTERED', () => SpanRegistry.register('shop', ['x'])],
      [
        'a registered namespace with allowOverride: false',
        'NAMESPACE_REGISTERED',
        () => SpanRegistry.register('shop', ['x'], {}, { allowOverride: false }),
      ],
      [
        'a group named all, also with allowOverride',
        'RESERVED_NAME',
        () => SpanRegistry.register('shop', ['all'], {}, { allowOverride: true }),
      ],
      [
        'a preset named all, also with allowOverride',
        'RESERVED_NAME',
        () => SpanRegistry.register('shop', ['x'], { all: [] }, { allowOverride: true }),
      ],
    ];

    it.each(refusals)('R4: refuses %s with %s and changes nothing', (_case, code, call) => {
      SpanRegistry.register('shop', ['orders', 'cache'], { default: ['orders'] });
      setSpanGroupSpec('default,x');
      const warnings = captureWarnings();
      const before = contents();

      const error = thrownBy(call);

      expect(error).toBeInstanceOf(SpanRegistryError);
      expect({ name: error.name, code: error.code }).toEqual({ name: 'SpanRegistryError', code });
      expect(contents()).toEqual(before);
      expect(warnings.codes()).toEqual([]);
    });

    it.each<[string, string, () => void]>([
      [
        'the namespace before the group names',
        'EMPTY_NAMESPACE',
        () => SpanRegistry.register('', ['', 'all']),
      ],
      [
        'the group names before already registered',
        'EMPTY_GROUP_NAME',
        () => SpanRegistry.register('shop', ['']),
      ],
      [
        'a reserved group before already registered',
        'RESERVED_NAME',
        () => SpanRegistry.register('shop', ['all']),
      ],
      [
        'already registered before the preset names',
        'NAMESPACE_REGISTERED',
        () => SpanRegistry.register('shop', ['x'], { all: ['x'] }),
      ],
      [
        'the group names before the preset names',
        'EMPTY_GROUP_NAME',
        () => SpanRegistry.register('new', [''], { all: [] }),
      ],
    ])('R4: checks %s', (_order, code, call) => {
      SpanRegistry.register('shop', ['orders']);
      expect(thrownBy(call).code).toBe(code);
    });

    it('R4: accepts everything else: an empty preset, an empty preset name, a preset without members of its own', () => {
      SpanRegistry.register('shop', ['orders'], { empty: [], '': ['orders'], borrowed: ['elsewhere', ''] });
      expect(SpanRegistry.namespaces()).toEqual(['shop']);
      expect(presetsAsObject()).toMatchObject({ empty: [], borrowed: [] });
    });

    it('R4: the message says which namespace is in the way, who registered it, the difference, and what to do', () => {
      SpanRegistry.register('shop', ['orders', 'cache'], { default: ['orders'], gone: [] });
      const again = (): void =>
        SpanRegistry.register('shop', ['cache', 'payment'], { default: ['cache'], fresh: [] });
      const place = String.raw`SpanRegistry\.register at [^ ]*span-registry\.spec\.ts:\d+:\d+`;
      expect(thrownBy(again).message).toMatch(
        new RegExp(`^Namespace 'shop' is already registered, by ${place}\\. ${place} registers it again`),
      );
      expect(thrownBy(again).message).toContain(
        "with differences: [group 'payment' is new, group 'orders' is missing, preset 'default' has other members, " +
          "preset 'fresh' has other members, preset 'gone' has other members]. Unregister it first, or pass { allowOverride: true }",
      );
    });

    it('R4: the message about the same content names no difference', () => {
      SpanRegistry.register('shop', ['orders', 'cache'], { default: ['orders', 'cache'] });
      const { code, message } = thrownBy(() =>
        SpanRegistry.register('shop', new Set(['cache', 'Orders']), { Default: ['cache', 'orders'] }),
      );
      expect(code).toBe('NAMESPACE_REGISTERED');
      expect(message).toMatch(/ registers it again\. Unregister it first/);
    });

    it('R4: the message names no place of its own where the caller is not known', () => {
      const register = (): void =>
        registerDefinition(readDefinition({ namespace: 'shop', groups: ['orders'] }, 'NestLensModule'));
      register();
      expect(thrownBy(register).message).toContain('by NestLensModule. NestLensModule registers it again');
    });

    it.each([
      ['none at all', 0],
      ['one frame', 1],
      ['all frames', Infinity],
    ])('R4: whatever the limit of stack traces is (%s), the message names what it can', (_what, limit) => {
      const usual = Error.stackTraceLimit;
      try {
        Error.stackTraceLimit = limit;
        SpanRegistry.register('shop', ['orders']);
        const { message } = thrownBy(() => SpanRegistry.register('shop', ['orders']));
        expect(message).toMatch(
          limit === 0 ? /by SpanRegistry.register\. Span/ : /by SpanRegistry.register at /,
        );
      } finally {
        Error.stackTraceLimit = usual;
      }
    });
  });

  it('R5: allowOverride replaces a registered namespace wholesale, the presets left out included', () => {
    SpanRegistry.register('shop', ['orders', 'cache'], { default: ['orders'], per_request: ['cache'] });
    SpanRegistry.register('shop', ['payment'], { default: ['payment'] }, { allowOverride: true });
    expect(contents()).toMatchObject({
      groups: ['payment'],
      namespaces: ['shop'],
      presets: { all: ['payment'], default: ['payment'] },
    });
    expect(presetsAsObject()).not.toHaveProperty('per_request');
    expect(resolved('per_request')).toEqual({ enabled: [], pending: ['per_request'] });
  });

  it('R5: allowOverride on a namespace that is not registered registers it', () => {
    SpanRegistry.register('shop', ['orders'], {}, { allowOverride: true });
    expect(SpanRegistry.namespaces()).toEqual(['shop']);
  });

  it('R6: one collision warning per clashing namespace, naming both and the sorted names', () => {
    const warnings = captureWarnings();
    SpanRegistry.register('left_lib', ['orders', 'cache', 'own_left']);
    SpanRegistry.register('right_lib', ['payment', 'own_right']);
    expect(warnings.take()).toEqual([]);

    SpanRegistry.register('newcomer', ['payment', 'orders', 'cache', 'fresh']);

    expect(warnings.take()).toEqual(['GROUP_COLLISION', 'GROUP_COLLISION']);
    const messages = warnings.all.map((warning) => warning.message);
    const left = messages.find((message) => message.includes('left_lib'))!;
    const right = messages.find((message) => message.includes('right_lib'))!;
    expect(left).toMatch(/newcomer/);
    expect(left).toMatch(/cache.*orders/s);
    expect(left).not.toMatch(/payment|fresh|own_left|right_lib/);
    expect(right).toMatch(/newcomer/);
    expect(right).toMatch(/payment/);
    expect(right).not.toMatch(/orders|cache|fresh|own_right|left_lib/);
  });

  it('R6: allowOverride silences the collision warning, for a new namespace and for a replaced one', () => {
    const warnings = captureWarnings();
    SpanRegistry.register('a', ['orders']);
    SpanRegistry.register('b', ['orders'], {}, { allowOverride: true });
    SpanRegistry.register('b', ['orders'], {}, { allowOverride: true });
    expect(warnings.codes()).toEqual([]);
  });

  it('R6: a shared group is one gate: enabling the name turns on both libraries', () => {
    SpanRegistry.register('a', ['orders']);
    SpanRegistry.register('b', ['orders'], { default: ['orders'] }, { allowOverride: true });
    expect(resolved('default')).toEqual({ enabled: ['orders'], pending: [] });
    expect([...SpanRegistry.groups()]).toEqual(['orders']);
  });

  it('R7: the end state does not depend on which library registered first', () => {
    const libraries: Record<string, () => void> = {
      a: () => SpanRegistry.register('a', ['orders', 'cache'], { default: ['orders', 'lent'] }),
      b: () => SpanRegistry.register('b', ['cache', 'lent'], { default: ['cache'], per_request: ['orders'] }),
      c: () => SpanRegistry.register('c', [], { default: ['payment'], cache: ['lent'] }),
    };
    const states = ['abc', 'acb', 'bac', 'bca', 'cab', 'cba'].map((order) => {
      SpanRegistry.clear();
      setSpanGroupSpec('default,cache,-orders');
      for (const library of order) libraries[library]!();
      const { presets, ...rest } = contents();
      return { ...rest, presets: Object.entries(presets).sort() };
    });
    for (const state of states) expect(state).toEqual(states[0]);
    expect(states[0]!.enabled).toEqual(['cache', 'lent']);
  });

  it('R8: a shared group lives until its last owner unregisters', () => {
    SpanRegistry.register('a', ['orders']);
    SpanRegistry.register('b', ['orders'], {}, { allowOverride: true });
    SpanRegistry.register('c', ['orders'], {}, { allowOverride: true });
    setSpanGroupSpec('orders');
    SpanRegistry.unregister('a');
    SpanRegistry.unregister('c');
    expect(isSpanGroupEnabled('orders')).toBe(true);
    SpanRegistry.unregister('b');
    expect(isSpanGroupEnabled('orders')).toBe(false);
    expect([...SpanRegistry.groups()]).toEqual([]);
  });

  it('R9: a borrowed member counts from the moment an owner registers', () => {
    SpanRegistry.register('rl', ['rollout'], { default: ['rollout', 'step'] });
    expect(presetsAsObject()).toEqual({ all: ['rollout'], default: ['rollout'] });
    expect(resolved('default').enabled).toEqual(['rollout']);
    SpanRegistry.register('engine', ['step']);
    expect(presetsAsObject().default).toEqual(['rollout', 'step']);
    expect(resolved('default').enabled).toEqual(['rollout', 'step']);
  });

  it('R10: each preset with unowned members logs one warning, naming it, the namespace and the members', () => {
    const warnings = captureWarnings();
    SpanRegistry.register('rl', ['rollout'], {
      default: ['rollout', 'step', 'ghost'],
      per_step: ['step'],
      complete: ['rollout'],
    });
    expect(warnings.take()).toEqual(['PRESET_MEMBER_UNREGISTERED', 'PRESET_MEMBER_UNREGISTERED']);
    const [first, second] = warnings.all.map((warning) => warning.message);
    expect(first).toMatch(/'default'/);
    expect(first).toMatch(/'rl'/);
    expect(first).toMatch(/ghost.*step/s);
    expect(second).toMatch(/'per_step'/);
    expect(second).toMatch(/step/);
    expect(second).not.toMatch(/ghost/);
  });

  it('R10: allowOverride does not silence it', () => {
    const warnings = captureWarnings();
    SpanRegistry.register('rl', ['rollout'], { default: ['step'] }, { allowOverride: true });
    expect(warnings.codes()).toEqual(['PRESET_MEMBER_UNREGISTERED']);
  });

  it('R11: a member that another namespace owns, or this call declares, is owned', () => {
    const warnings = captureWarnings();
    SpanRegistry.register('engine', ['step']);
    SpanRegistry.register('rl', ['rollout'], { default: ['rollout', 'step'] });
    expect(warnings.codes()).toEqual([]);
  });

  it("R11: on an override the namespace's own previous groups do not count", () => {
    const warnings = captureWarnings();
    SpanRegistry.register('shop', ['orders', 'cache']);
    SpanRegistry.register('shop', ['orders'], { default: ['orders', 'cache'] }, { allowOverride: true });
    expect(warnings.codes()).toEqual(['PRESET_MEMBER_UNREGISTERED']);
    expect(warnings.all[0]!.message).toMatch(/cache/);
  });

  it('R11: on an override a group that another namespace owns too still counts', () => {
    const warnings = captureWarnings();
    SpanRegistry.register('shop', ['cache']);
    SpanRegistry.register('other', ['cache'], {}, { allowOverride: true });
    SpanRegistry.register('shop', ['orders'], { default: ['cache'] }, { allowOverride: true });
    expect(warnings.codes()).toEqual([]);
  });

  it('R20: a namespace of presets only is legal', () => {
    const warnings = captureWarnings();
    SpanRegistry.register('engine', ['step']);
    SpanRegistry.register('presets_only', [], { quiet: ['step'] });
    expect(SpanRegistry.namespaces()).toEqual(['engine', 'presets_only']);
    expect(resolved('quiet')).toEqual({ enabled: ['step'], pending: [] });
    expect(warnings.codes()).toEqual([]);
  });

  describe('names of presets and groups', () => {
    it('R21: a bare name that is both means the preset, and one call that makes the pair warns', () => {
      const warnings = captureWarnings();
      SpanRegistry.register('shop', ['orders', 'cache'], { orders: ['cache'] });
      expect(warnings.codes()).toEqual(['PRESET_SHADOWS_GROUP']);
      expect(warnings.all[0]!.message).toMatch(/'orders'/);
      expect(resolved('orders')).toEqual({ enabled: ['cache'], pending: [] });
    });

    it('R21: a preset over a group of another namespace warns, whichever came first', () => {
      const warnings = captureWarnings();
      SpanRegistry.register('a', ['orders', 'cache']);
      SpanRegistry.register('b', [], { orders: ['cache'] });
      expect(warnings.take()).toEqual(['PRESET_SHADOWS_GROUP']);
      SpanRegistry.clear();
      SpanRegistry.register('b', [], { orders: ['cache'] });
      expect(warnings.take()).toEqual(['PRESET_MEMBER_UNREGISTERED']);
      SpanRegistry.register('a', ['orders', 'cache']);
      expect(warnings.take()).toEqual(['PRESET_SHADOWS_GROUP']);
    });

    it('R21: an unrelated registration does not warn of a pair that exists', () => {
      SpanRegistry.register('shop', ['orders', 'cache'], { orders: ['cache'] });
      const warnings = captureWarnings();
      SpanRegistry.register('other', ['step'], { default: ['step', 'orders'] });
      expect(warnings.codes()).toEqual([]);
    });

    const oddNames = [
      '__proto__',
      'constructor',
      'toString',
      'hasOwnProperty',
      'prototype',
      'valueOf',
      '__defineGetter__',
    ];

    it.each(oddNames)('R22: %s is a group, a preset and a namespace like any other', (name) => {
      const group = name.toLowerCase();
      expect(resolved(name)).toEqual({ enabled: [], pending: [group] });
      expect(isSpanGroupEnabled(name)).toBe(false);
      expect(isSpanGroupEnabled(group)).toBe(false);

      SpanRegistry.register(name, [name]);
      expect(contents()).toMatchObject({ groups: [group], namespaces: [name] });
      expect(resolved(name)).toEqual({ enabled: [group], pending: [] });
      setSpanGroupSpec(name);
      expect(isSpanGroupEnabled(group)).toBe(true);
      SpanRegistry.unregister(name);
      expect(isSpanGroupEnabled(group)).toBe(false);

      SpanRegistry.register('shop', ['orders'], Object.fromEntries([[name, ['orders']]]));
      expect(SpanRegistry.presets().get(group)).toEqual(new Set(['orders']));
      expect(resolved(name)).toEqual({ enabled: ['orders'], pending: [] });
      expect(Object.getPrototypeOf({})).toBe(Object.prototype);
      expect(({} as Record<string, unknown>).orders).toBeUndefined();
    });

    it('R22: what a presets object inherits is not a preset', () => {
      SpanRegistry.register(
        'shop',
        ['orders'],
        Object.create({ inherited: ['orders'] }) as Record<string, string[]>,
      );
      expect(presetsAsObject()).toEqual({ all: ['orders'] });
    });

    it.each([['my-group'], ['a b'], ['schön'], ['a.b'], ['a/b'], ['9%']])(
      'R23: %j is accepted, works, and warns NAME_STYLE',
      (name) => {
        const warnings = captureWarnings();
        SpanRegistry.register('shop', [name, 'orders']);
        expect(warnings.codes()).toEqual(['NAME_STYLE']);
        expect(warnings.all[0]!.message).toContain(name);
        expect(warnings.all[0]!.message).toContain('snake_case');
        setSpanGroupSpec(name);
        expect([...enabledSpanGroups()]).toEqual([name]);
      },
    );

    it.each(['Orders', ' orders ', 'db_query', 'http2', 'a'])(
      'R23: %j is snake_case once normalised: no warning',
      (name) => {
        const warnings = captureWarnings();
        SpanRegistry.register('shop', [name]);
        expect(warnings.codes()).toEqual([]);
      },
    );

    it('R23: the name of a preset is held to the same style', () => {
      const warnings = captureWarnings();
      SpanRegistry.register('shop', ['orders'], { 'per-request': ['orders'] });
      expect(warnings.codes()).toEqual(['NAME_STYLE']);
      expect(resolved('per-request')).toEqual({ enabled: ['orders'], pending: [] });
    });
  });
});

describe('SpanRegistry.presets', () => {
  it('R12: unions members by preset name over all namespaces', () => {
    SpanRegistry.register('megatron', ['step'], { default: ['step'] });
    SpanRegistry.register('nemo_rl', ['rollout'], { default: ['rollout'] });
    expect(presetsAsObject()).toEqual({ all: ['rollout', 'step'], default: ['rollout', 'step'] });
    expect(resolved('default')).toEqual({ enabled: ['rollout', 'step'], pending: [] });
  });

  it('R12: every preset is a subset of all, also one whose members nobody owns', () => {
    SpanRegistry.register('shop', ['orders'], { default: ['orders', 'ghost'], haunted: ['ghost'] });
    expect(presetsAsObject()).toEqual({ all: ['orders'], default: ['orders'], haunted: [] });
  });

  it('R13: all is every group registered at the time of the read', () => {
    SpanRegistry.register('a', ['orders']);
    expect(resolved('all').enabled).toEqual(['orders']);
    SpanRegistry.register('b', ['cache']);
    expect(resolved('all').enabled).toEqual(['cache', 'orders']);
    SpanRegistry.unregister('a');
    expect(resolved('all').enabled).toEqual(['cache']);
    expect(presetsAsObject()).toEqual({ all: ['cache'] });
  });
});

describe('SpanRegistry.unregister and clear', () => {
  it('R14: removes the groups and presets of the namespace, and only those', () => {
    SpanRegistry.register('a', ['orders'], { default: ['orders'], only_a: ['orders'] });
    SpanRegistry.register('b', ['cache'], { default: ['cache'] });
    SpanRegistry.unregister('a');
    expect(contents()).toMatchObject({
      groups: ['cache'],
      namespaces: ['b'],
      presets: { all: ['cache'], default: ['cache'] },
    });
    expect(presetsAsObject()).not.toHaveProperty('only_a');
  });

  it('R14: an unknown namespace throws NAMESPACE_NOT_REGISTERED, names the known ones, and changes nothing', () => {
    SpanRegistry.register('shop', ['orders']);
    const before = contents();
    const error = thrownBy(() => SpanRegistry.unregister('shoop'));
    expect(error).toBeInstanceOf(SpanRegistryError);
    expect(error).toMatchObject({ name: 'SpanRegistryError', code: 'NAMESPACE_NOT_REGISTERED' });
    expect(error.message).toMatch(/'shoop'.*shop/s);
    expect(contents()).toEqual(before);
  });

  it('R14: an unregistered namespace can register again, with other groups', () => {
    SpanRegistry.register('shop', ['orders']);
    SpanRegistry.unregister('shop');
    SpanRegistry.register('shop', ['payment']);
    expect(contents()).toMatchObject({ groups: ['payment'], namespaces: ['shop'] });
  });

  it('R14: presets elsewhere that borrowed its groups lose them, and regain them when it returns', () => {
    SpanRegistry.register('engine', ['step']);
    SpanRegistry.register('rl', ['rollout'], { default: ['rollout', 'step'] });
    SpanRegistry.unregister('engine');
    expect(presetsAsObject()).toEqual({ all: ['rollout'], default: ['rollout'] });
    SpanRegistry.register('engine', ['step']);
    expect(presetsAsObject()).toEqual({ all: ['rollout', 'step'], default: ['rollout', 'step'] });
  });

  it('R15: clear removes everything, and is fine on an empty registry', () => {
    SpanRegistry.register('a', ['orders'], { default: ['orders'] });
    SpanRegistry.register('b', ['cache']);
    setSpanGroupSpec('all');
    SpanRegistry.clear();
    SpanRegistry.clear();
    expect(contents()).toEqual({ groups: [], namespaces: [], presets: { all: [] }, enabled: [] });
    SpanRegistry.register('a', ['payment']);
    expect(contents()).toMatchObject({ groups: ['payment'], enabled: ['payment'] });
  });
});

describe('what the registry hands out', () => {
  /** Tries every way to change a collection; a refusal by throwing is as good as a copy. */
  function vandalise(value: unknown): void {
    const attempts: (() => void)[] = [
      () => (value as Set<string>).add('evil'),
      () => (value as Set<string>).delete('orders'),
      () => (value as Map<string, unknown>).set('evil', new Set(['orders'])),
      () => (value as string[]).push('evil'),
      () => ((value as string[])[0] = 'evil'),
      () => (value as Set<string>).clear(),
    ];
    for (const attempt of attempts) {
      try {
        attempt();
      } catch {
        continue;
      }
    }
  }

  it('R16: nothing that was handed out can change the registry', () => {
    SpanRegistry.register('shop', ['orders', 'cache'], { default: ['orders'] });
    setSpanGroupSpec('default');
    const before = contents();
    for (const members of SpanRegistry.presets().values()) vandalise(members);
    vandalise(SpanRegistry.presets());
    vandalise(SpanRegistry.groups());
    vandalise(SpanRegistry.namespaces());
    vandalise(SpanRegistry.resolve('default').enabled);
    vandalise(enabledSpanGroups());
    expect(contents()).toEqual(before);
    expect([isSpanGroupEnabled('orders'), isSpanGroupEnabled('evil')]).toEqual([true, false]);
  });

  it('R16: nothing that was handed in can change it later', () => {
    const groups = new Set(['orders']);
    const members = ['orders'];
    const presets: Record<string, string[]> = { default: members };
    SpanRegistry.register('shop', groups, presets);
    groups.add('evil');
    members.push('evil');
    presets.evil = ['orders'];
    expect(contents()).toMatchObject({
      groups: ['orders'],
      presets: { all: ['orders'], default: ['orders'] },
    });
  });

  it('R16: none is a live view', () => {
    SpanRegistry.register('shop', ['orders'], { default: ['orders'] });
    const [groups, namespaces, presets] = [
      SpanRegistry.groups(),
      SpanRegistry.namespaces(),
      SpanRegistry.presets(),
    ];
    SpanRegistry.register('other', ['cache'], { default: ['cache'], late: ['cache'] });
    SpanRegistry.unregister('shop');
    expect([...groups]).toEqual(['orders']);
    expect(namespaces).toEqual(['shop']);
    expect([...presets.get('default')!]).toEqual(['orders']);
    expect(presets.has('late')).toBe(false);
  });

  it('R16: namespaces are sorted by their characters, not by a locale', () => {
    for (const name of ['b', 'Zoo', 'a', '_x', 'B']) SpanRegistry.register(name, [`g_${name}`]);
    expect(SpanRegistry.namespaces()).toEqual(['B', 'Zoo', '_x', 'a', 'b']);
  });
});

describe('mutations and the configured spec', () => {
  it('R17: register, unregister and clear re-resolve before they return', () => {
    setSpanGroupSpec('default,cache');
    SpanRegistry.register('a', ['orders', 'cache'], { default: ['orders'] });
    expect([isSpanGroupEnabled('orders'), isSpanGroupEnabled('cache')]).toEqual([true, true]);
    SpanRegistry.register('a', ['cache'], {}, { allowOverride: true });
    expect([isSpanGroupEnabled('orders'), isSpanGroupEnabled('cache')]).toEqual([false, true]);
    SpanRegistry.unregister('a');
    expect(isSpanGroupEnabled('cache')).toBe(false);
    SpanRegistry.register('b', ['cache']);
    SpanRegistry.clear();
    expect(isSpanGroupEnabled('cache')).toBe(false);
  });

  it('R17: a pinned set is left alone by all of them', () => {
    setEnabledSpanGroups(['orders']);
    SpanRegistry.register('a', ['orders', 'cache'], { default: ['cache'] });
    SpanRegistry.unregister('a');
    SpanRegistry.clear();
    expect([...enabledSpanGroups()]).toEqual(['orders']);
  });
});
