// Values of a wrong type, as JavaScript lets through, are refused with words before anything is changed.
import { beforeEach, describe, expect, it } from 'vitest';
import {
  defineSpanGroups,
  enabledSpanGroups,
  overrideSpanGroups,
  pendingSpanGroups,
  setEnabledSpanGroups,
  setLensLogger,
  setSpanGroupSpec,
  SpanRegistry,
} from 'nest-lens/core';
import { readDefinitions } from '../../../src/core/groups/span-group-definition.js';
import { processState } from '../../../src/core/state/process-state.js';
import { captureWarnings, type CapturedWarnings } from '../../support/capture-warnings.js';

/** One of each kind, but texts. */
const NO_TEXTS: [string, any][] = [
  ['undefined', undefined],
  ['null', null],
  ['5', 5],
  ['true', true],
  ['a symbol', Symbol('s')],
  ['an array', ['orders']],
  ['an object', { orders: true }],
  ['an object', Object.create(null)],
  ['a function', () => 'orders'],
];
const NO_ITERABLES = NO_TEXTS.filter(([kind]) => kind !== 'an array');
const NO_OBJECTS: [string, any][] = NO_TEXTS.filter(
  ([kind]) => !['undefined', 'an object', 'an array'].includes(kind),
).concat([["the string 'x'", 'x']]);

function everything() {
  const { override, pinned, logger, namespaces } = processState;
  return {
    namespaces: [...namespaces],
    enabled: [...enabledSpanGroups()],
    pending: [...pendingSpanGroups()],
    override: override?.spec.raw,
    pinned,
    logger,
  };
}

let warnings: CapturedWarnings;
beforeEach(() => {
  warnings = captureWarnings();
  SpanRegistry.register('shop', ['orders', 'cache'], { default: ['orders'] });
  setSpanGroupSpec('default,tpyo');
  overrideSpanGroups('cache,oops');
  warnings.take();
});

/** What a call throws says what is wanted and what was given; nothing else happens. */
function refuses(call: () => unknown, says: string | RegExp): void {
  const before = everything();
  let thrown: unknown;
  try {
    call();
  } catch (error) {
    thrown = error;
  }
  expect(thrown).toBeInstanceOf(TypeError);
  expect((thrown as Error).message).toMatch(says);
  expect(everything()).toEqual(before);
  expect(warnings.take()).toEqual([]);
}

describe('SpanRegistry.register', () => {
  it.each(NO_TEXTS)('R4: refuses %s as a namespace', (kind, given) => {
    refuses(() => SpanRegistry.register(given, ['x']), `namespace must be a string, not ${kind}`);
  });

  it.each(NO_ITERABLES)('R4: refuses %s as groups', (kind, given) => {
    refuses(() => SpanRegistry.register('new', given), new RegExp(`groups must be an array.*, not ${kind}`));
    refuses(() => SpanRegistry.register('shop', given, {}, { allowOverride: true }), 'groups must be');
  });

  it.each(NO_TEXTS)('R4: refuses %s as the name of a group or of a member', (kind, given) => {
    refuses(() => SpanRegistry.register('new', ['x', given]), `each name must be a string, not ${kind}`);
    refuses(
      () => SpanRegistry.register('new', ['x'], { default: new Set(['x', given]) }),
      `each name must be a string, not ${kind}`,
    );
  });

  it.each<[string, any]>([
    ...NO_OBJECTS.filter(([kind]) => kind !== 'null'),
    ['an array', [['default', ['x']]]],
    ['an object', new Map([['default', ['x']]])],
  ])('R4: refuses %s as presets', (kind, given) => {
    refuses(
      () => SpanRegistry.register('new', ['x'], given),
      new RegExp(`presets must be an object.*, not ${kind}`),
    );
  });

  it.each(NO_ITERABLES)('R4: refuses %s as the names of a preset', (kind, given) => {
    refuses(() => SpanRegistry.register('new', ['x'], { default: given }), `not ${kind}`);
  });

  it.each(NO_OBJECTS)('R4: refuses %s as options', (kind, given) => {
    refuses(() => SpanRegistry.register('new', ['x'], {}, given), `options must be an object, not ${kind}`);
  });

  it.each([
    ["the string 'false'", 'false'],
    ['null', null],
    ['1', 1],
  ])('R4: refuses %s as allowOverride', (kind, given: any) => {
    refuses(
      () => SpanRegistry.register('shop', ['x'], {}, { allowOverride: given }),
      `allowOverride must be true or false, not ${kind}`,
    );
  });

  it('R2: no presets are null too, and a bare text is one name', () => {
    SpanRegistry.register('new', 'fresh', null as any);
    expect([...SpanRegistry.groups()].sort()).toEqual(['cache', 'fresh', 'orders']);
  });
});

describe('SpanRegistry.unregister', () => {
  it.each(NO_TEXTS)('R14: refuses %s', (kind, given) => {
    refuses(() => SpanRegistry.unregister(given), `namespace must be a string, not ${kind}`);
  });
});

describe('defineSpanGroups and lists of definitions', () => {
  const wrong: [string, any, string][] = [
    ['a namespace that is missing', { groups: ['x'] }, 'namespace must be a string, not undefined'],
    ['groups that are missing', { namespace: 'new' }, 'groups must be'],
    ['groups that are an object', { namespace: 'new', groups: { x: true } }, 'not an object'],
    ['a preset that is a number', { namespace: 'new', groups: [], presets: { default: 1 } }, 'not 1'],
    [
      'a string as allowOverride',
      { namespace: 'new', groups: [], allowOverride: 'yes' },
      "not the string 'yes'",
    ],
    ['null', null, 'a definition must be an object with namespace and groups, not null'],
    ['no object', 5, 'a definition must be an object with namespace and groups, not 5'],
    ['a list', [{ namespace: 'new', groups: [] }], 'not an array'],
  ];

  it.each(wrong)('R4: %s is refused when it is defined, not when it is registered', (_what, given, says) => {
    refuses(() => defineSpanGroups(given), says);
    refuses(() => readDefinitions([given], 'forRoot'), says);
  });

  it.each(NO_TEXTS)('R3: group() refuses %s', (kind, given) => {
    refuses(
      () => defineSpanGroups({ namespace: 'new', groups: ['x'] }).group(given as never),
      `group(): name must be a string, not ${kind}`,
    );
  });

  it.each(NO_TEXTS.filter(([kind]) => kind !== 'an array'))(
    'N1: %s is no list of definitions',
    (kind, given) => {
      refuses(
        () => readDefinitions(given, 'NestLensModule.forRoot'),
        `NestLensModule.forRoot: registrations must be an array of definitions, not ${kind}`,
      );
    },
  );
});

describe('setSpanGroupSpec', () => {
  it.each(NO_TEXTS)('T2: never throws; %s is a warning, and changes nothing', (kind, given) => {
    const before = everything();
    setSpanGroupSpec(given);
    expect(everything()).toEqual(before);
    expect(warnings.take()).toEqual(['SPEC_INVALID']);
    expect(warnings.all.at(-1)!.message).toContain(`must be a string such as 'default,db_*', not ${kind}`);
  });
});

describe('SpanRegistry.resolve', () => {
  it.each(NO_TEXTS)('S2: never throws; %s turns nothing on', (_kind, given) => {
    expect(SpanRegistry.resolve(given)).toEqual({ enabled: new Set(), pending: new Set() });
  });
});

describe('setEnabledSpanGroups', () => {
  it.each(NO_ITERABLES)('T4: refuses %s', (kind, given) => {
    refuses(() => setEnabledSpanGroups(given), new RegExp(`setEnabledSpanGroups: groups .*, not ${kind}`));
  });

  it.each(NO_TEXTS)('T4: refuses %s among the groups', (kind, given) => {
    refuses(() => setEnabledSpanGroups(['orders', given]), `each name must be a string, not ${kind}`);
  });
});

describe('overrideSpanGroups', () => {
  function refusesWithCode(code: string, call: () => void, says: string): void {
    const before = everything();
    expect(call).toThrow(expect.objectContaining({ name: 'NestLensError', code }));
    expect(call).toThrow(says);
    expect(everything()).toEqual(before);
    expect(warnings.take()).toEqual([]);
  }

  it.each(NO_TEXTS)('T7: refuses %s as a spec', (kind, given) => {
    refusesWithCode('INVALID_SPEC', () => overrideSpanGroups(given), `not ${kind}`);
    refusesWithCode('INVALID_SPEC', () => overrideSpanGroups(given, { ttlMs: 1_000 }), `not ${kind}`);
  });

  it.each<[string, any]>([
    ["the string '500'", '500'],
    ['an array', [500]],
    ['an object', { valueOf: () => 500 }],
    ['an object', new Date(500)],
    ['null', null],
    ['true', true],
    ['5', 5n],
    ['0', 0],
    ['-1', -1],
    ['NaN', NaN],
    ['Infinity', Infinity],
    ['9000000000000000', 9e15],
  ])('T7: refuses %s as ttlMs', (kind, given) => {
    refusesWithCode('INVALID_TTL', () => overrideSpanGroups('orders', { ttlMs: given }), `not ${kind}`);
  });

  it.each(NO_OBJECTS)('T7: refuses %s as options', (kind, given) => {
    refuses(() => overrideSpanGroups('orders', given), `options must be an object, not ${kind}`);
  });

  it('T7: refuses a list and a misspelt key as options: the override would have no end', () => {
    refuses(() => overrideSpanGroups('orders', [500] as any), 'options must be an object, not an array');
    refuses(
      () => overrideSpanGroups('orders', { ttl: 500 } as any),
      "a key of options must be ttlMs, not the string 'ttl'",
    );
  });
});

describe('setLensLogger', () => {
  it.each<[string, any]>([
    ...NO_TEXTS,
    ['an object', { warn: 'no' }],
    ['an object', { warning: () => undefined }],
  ])('R19: refuses %s', (kind, given) => {
    refuses(() => setLensLogger(given), `an object with a method warn(message, warning), not ${kind}`);
  });
});
