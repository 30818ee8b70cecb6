import { beforeEach, describe, expect, it } from 'vitest';
import {
  enabledSpanGroups,
  overrideSpanGroups,
  pendingSpanGroups,
  setSpanGroupSpec,
  SpanRegistry,
} from 'nest-lens/core';
import { captureWarnings } from '../../support/capture-warnings.js';

function resolved(spec: string): { enabled: string[]; pending: string[] } {
  const { enabled, pending } = SpanRegistry.resolve(spec);
  return { enabled: [...enabled].sort(), pending: [...pending].sort() };
}

const ALL_GROUPS = ['cache', 'db_query', 'db_tx', 'orders', 'payment'];

function registerShop(): void {
  SpanRegistry.register('shop', ALL_GROUPS, {
    default: ['orders'],
    per_request: ['cache', 'db_query'],
    haunted: ['ghost'],
  });
}

/** Spec, enabled, pending. */
type Row = [spec: string, enabled: string[], pending: string[]];

// Keeps the warnings that a test isn't about off the console.
beforeEach(() => {
  captureWarnings();
});

describe('a spec of names', () => {
  beforeEach(registerShop);

  it.each<Row>([
    ['', [], []],
    [' ', [], []],
    [',', [], []],
    [' , ,, ', [], []],
    ['\t\n', [], []],
    ['default', ['orders'], []],
    ['default,', ['orders'], []],
    [',default', ['orders'], []],
    ['default\n', ['orders'], []],
    ['\tdefault\r\n', ['orders'], []],
    ['DEFAULT', ['orders'], []],
    ['Per_Request', ['cache', 'db_query'], []],
    [' default , per_request ', ['cache', 'db_query', 'orders'], []],
    ['default,default', ['orders'], []],
    ['orders', ['orders'], []],
    ['ORDERS,Cache', ['cache', 'orders'], []],
    ['per_request,orders', ['cache', 'db_query', 'orders'], []],
    ['per_request,cache', ['cache', 'db_query'], []],
  ])('S1: %j selects %j', (spec, enabled, pending) => {
    expect(resolved(spec)).toEqual({ enabled, pending });
  });

  it.each<Row>([
    ['tpyo', [], ['tpyo']],
    [' TpYo ', [], ['tpyo']],
    ['tpyo,TPYO', [], ['tpyo']],
    ['none', [], ['none']],
    ['order', [], ['order']],
    ['orders cache', [], ['orders cache']],
    ['orders;cache', [], ['orders;cache']],
    ['__proto__', [], ['__proto__']],
    ['constructor,toString', [], ['constructor', 'tostring']],
    ['shop', [], ['shop']],
  ])('S3: %j names nothing registered, so %j is on and %j pending', (spec, enabled, pending) => {
    expect(resolved(spec)).toEqual({ enabled, pending });
  });

  it.each<Row>([
    ['all', ALL_GROUPS, []],
    ['ALL', ALL_GROUPS, []],
    ['all,orders', ALL_GROUPS, []],
    ['all,tpyo', ALL_GROUPS, ['tpyo']],
    ['haunted', [], []],
    ['haunted,orders', ['orders'], []],
  ])('S3: %j is the live members of its presets: %j', (spec, enabled, pending) => {
    expect(resolved(spec)).toEqual({ enabled, pending });
  });

  it.each<Row>([
    ['tpyo,orders', ['orders'], ['tpyo']],
    ['orders,tpyo', ['orders'], ['tpyo']],
    ['default,tpyo,per_request,oops', ['cache', 'db_query', 'orders'], ['oops', 'tpyo']],
  ])('S5: in %j a pending entry never cancels the rest', (spec, enabled, pending) => {
    expect(resolved(spec)).toEqual({ enabled, pending });
  });

  it('S2: resolve is pure: it changes nothing that is on and logs nothing', () => {
    setSpanGroupSpec('default');
    const warnings = captureWarnings();
    resolved('all,tpyo,-nope,x*');
    expect([...enabledSpanGroups()]).toEqual(['orders']);
    expect([...pendingSpanGroups()]).toEqual([]);
    expect(warnings.codes()).toEqual([]);
  });

  it('S2: an answer does not change with the registry', () => {
    const answer = SpanRegistry.resolve('all,late');
    SpanRegistry.register('later', ['late']);
    expect([...answer.enabled].sort()).toEqual(ALL_GROUPS);
    expect([...answer.pending]).toEqual(['late']);
  });

  it.each([
    '\u0000',
    '💥,\ud800',
    '(',
    '[a-',
    '\\',
    '${x}',
    'a'.repeat(100_000),
    ','.repeat(100_000),
    '-'.repeat(1000),
  ])('S2: resolve never throws (row %#)', (spec) => {
    expect(() => SpanRegistry.resolve(spec)).not.toThrow();
    expect(() => setSpanGroupSpec(spec)).not.toThrow();
  });
});

describe('a spec on an empty registry', () => {
  it.each<Row>([
    ['', [], []],
    ['all', [], []],
    ['ALL', [], []],
    ['default', [], ['default']],
    ['all,default', [], ['default']],
    ['*', [], ['*']],
    ['-cache', [], ['-cache']],
  ])('S4: %j selects nothing, pending %j', (spec, enabled, pending) => {
    expect(resolved(spec)).toEqual({ enabled, pending });
  });
});

describe('wildcards and exclusions', () => {
  beforeEach(registerShop);

  it.each<Row>([
    ['db_*', ['db_query', 'db_tx'], []],
    ['DB_*', ['db_query', 'db_tx'], []],
    ['*', ALL_GROUPS, []],
    ['**', ALL_GROUPS, []],
    ['*_*', ['db_query', 'db_tx'], []],
    ['*s', ['orders'], []],
    ['o*s', ['orders'], []],
    ['o*d*s', ['orders'], []],
    ['o*s*s', [], ['o*s*s']],
    ['or*rs*ers', [], ['or*rs*ers']],
    ['*e*', ['cache', 'db_query', 'orders', 'payment'], []],
    ['orders*', ['orders'], []],
    ['*orders*', ['orders'], []],
    ['d*q*y', ['db_query'], []],
    ['db_tx*x', [], ['db_tx*x']],
    ['ordersorders*', [], ['ordersorders*']],
    ['db_*,orders', ['db_query', 'db_tx', 'orders'], []],
    ['nope_*', [], ['nope_*']],
    [' Nope_* ', [], ['nope_*']],
    ['per_*', [], ['per_*']],
    ['a*l', [], ['a*l']],
    ['nope_*,orders', ['orders'], ['nope_*']],
  ])('S6: %j matches group names: %j, pending %j', (spec, enabled, pending) => {
    expect(resolved(spec)).toEqual({ enabled, pending });
  });

  it.each<Row>([
    ['all,-cache', ['db_query', 'db_tx', 'orders', 'payment'], []],
    ['-cache,all', ['db_query', 'db_tx', 'orders', 'payment'], []],
    ['all,-CACHE', ['db_query', 'db_tx', 'orders', 'payment'], []],
    ['all, -cache ', ['db_query', 'db_tx', 'orders', 'payment'], []],
    ['all,- cache', ['db_query', 'db_tx', 'orders', 'payment'], []],
    ['all,-per_request', ['db_tx', 'orders', 'payment'], []],
    ['all,-db_*', ['cache', 'orders', 'payment'], []],
    ['per_request,-db_*', ['cache'], []],
    ['all,-*', [], []],
    ['*,-all', [], []],
    ['all,-haunted', ALL_GROUPS, []],
    ['cache,-cache', [], []],
    ['-cache,cache', [], []],
    ['default,-per_request', ['orders'], []],
    ['default,-db_*', ['orders'], []],
    ['-cache', [], []],
    ['-default', [], []],
  ])('S6: %j takes groups away, wherever it stands: %j', (spec, enabled, pending) => {
    expect(resolved(spec)).toEqual({ enabled, pending });
  });

  it.each<Row>([
    ['all,-tpyo', ALL_GROUPS, ['-tpyo']],
    ['all,-TPYO', ALL_GROUPS, ['-tpyo']],
    ['all,-nope_*', ALL_GROUPS, ['-nope_*']],
    ['-tpyo,tpyo', [], ['-tpyo', 'tpyo']],
    ['all,-per_*', ALL_GROUPS, ['-per_*']],
    ['default,-', ['orders'], ['-']],
    ['default,--x', ['orders'], ['--x']],
    ['default,--orders', ['orders'], ['--orders']],
    ['-,--x,*', ALL_GROUPS, ['-', '--x']],
  ])(
    'S6: in %j an exclusion of nothing registered is pending with its sign: %j, %j',
    (spec, enabled, pending) => {
      expect(resolved(spec)).toEqual({ enabled, pending });
    },
  );

  it('S6: a wildcard reaches a group that a preset of the same name hides', () => {
    SpanRegistry.register('other', [], { payment: ['cache'] });
    expect(resolved('payment').enabled).toEqual(['cache']);
    expect(resolved('payment*').enabled).toEqual(['payment']);
    expect(resolved('all,-payment').enabled).toEqual(['db_query', 'db_tx', 'orders', 'payment']);
  });

  it('S6: only * is special: other signs of regular expressions are plain characters', () => {
    SpanRegistry.register('odd', ['a.b', 'axb', 'a+', 'aa', '(x', '[x', 'x$']);
    expect(resolved('a.*').enabled).toEqual(['a.b']);
    expect(resolved('a+*').enabled).toEqual(['a+']);
    expect(resolved('(*,[*,*$').enabled).toEqual(['(x', '[x', 'x$']);
    expect(resolved('a?*').pending).toEqual(['a?*']);
  });

  // Each of these took 14 s and more when each star was a step of its own, or would if matching ever went back.
  it.each([
    ['a thousand stars side by side', '*'.repeat(1_000), 100_000],
    ['stars side by side around a name', `${'*'.repeat(500)}group_1${'*'.repeat(499)}`, 11_111],
    ['a thousand stars apart', '*g'.repeat(1_000), 0],
    ['stars apart that match in many ways', `${'*_'.repeat(400)}*x`, 0],
  ])('S6: %s take no longer than others, also with 100,000 groups', (_what, spec, selected) => {
    SpanRegistry.clear();
    SpanRegistry.register(
      'many',
      Array.from({ length: 100_000 }, (_, i) => `group_${i}_`),
    );
    expect(resolved(spec).enabled).toHaveLength(selected);
  });

  it('S6: a pattern of many pieces takes no long time on a long name', () => {
    SpanRegistry.register('long', ['a'.repeat(100_000), 'ab'.repeat(50_000)]);
    expect(resolved(`${'*a'.repeat(40_000)}*b`).enabled).toEqual(['ab'.repeat(50_000)]);
    expect(resolved(`${'*a'.repeat(40_000)}*c`).enabled).toEqual([]);
  });

  it.each([
    ['a*bc*c', 'axbc'],
    ['*ab*ab*', 'abxx'],
    ['*aba*aba*', 'ababax'],
    ['a*a', 'a'],
  ])('S6: no two pieces of %s match the same letters of %s', (pattern, name) => {
    SpanRegistry.register('one', [name]);
    expect(resolved(pattern)).toEqual({ enabled: [], pending: [pattern] });
  });

  it('S6: stars side by side are kept as they were typed while they are pending', () => {
    expect(resolved('nope_**,-x***y').pending).toEqual(['-x***y', 'nope_**']);
    expect(resolved('db_**,-**x').enabled).toEqual(['db_query']);
  });

  it('S6: wildcards and exclusions follow the registry as names do', () => {
    setSpanGroupSpec('job_*,-job_b');
    expect([...pendingSpanGroups()].sort()).toEqual(['-job_b', 'job_*']);
    SpanRegistry.register('jobs', ['job_a', 'job_b']);
    expect([...enabledSpanGroups()]).toEqual(['job_a']);
    expect([...pendingSpanGroups()]).toEqual([]);
    SpanRegistry.register('more', ['job_c']);
    expect([...enabledSpanGroups()].sort()).toEqual(['job_a', 'job_c']);
    SpanRegistry.unregister('jobs');
    expect([...enabledSpanGroups()]).toEqual(['job_c']);
    expect([...pendingSpanGroups()]).toEqual(['-job_b']);
    SpanRegistry.unregister('more');
    expect([...pendingSpanGroups()].sort()).toEqual(['-job_b', 'job_*']);
  });
});

describe('a spec that costs too much', () => {
  const names = (count: number): string => Array.from({ length: count }, (_, i) => `name_${i}`).join(',');
  const patterns = (count: number): string => Array.from({ length: count }, (_, i) => `x${i}*`).join(',');

  beforeEach(() => {
    registerShop();
    setSpanGroupSpec('default');
  });

  it.each([
    ['more than 100,000 characters', `orders,${'x'.repeat(100_000)}`, '100007 characters'],
    ['more than 100 wildcards', `orders,${patterns(101)}`, "101 entries with '*'"],
    ['more than 100 wildcards, some of them excluded', `orders,-b*,${patterns(100)}`, "101 entries with '*'"],
  ])('S6: of %s is not used, and that is said', (_what, spec, said) => {
    const warnings = captureWarnings();
    setSpanGroupSpec(spec);
    expect(warnings.take()).toEqual(['SPEC_INVALID']);
    expect(warnings.all[0]!.message).toContain(said);
    expect([...enabledSpanGroups()]).toEqual(['orders']);
    expect(() => overrideSpanGroups(spec)).toThrow(expect.objectContaining({ code: 'INVALID_SPEC' }));
    expect(resolved(spec)).toEqual({ enabled: [], pending: [] });
    expect([...enabledSpanGroups()]).toEqual(['orders']);
  });

  it.each([
    ['thousands of names', `orders,${names(9_000)}`, 9_000],
    ['a hundred wildcards', `orders,${patterns(100)}`, 100],
    ['the same wildcard a thousand times', `orders,${'x*,'.repeat(1_000)}`, 1],
  ])('S6: of %s is used', (_what, spec, waiting) => {
    setSpanGroupSpec(spec);
    expect([...enabledSpanGroups()]).toEqual(['orders']);
    expect(pendingSpanGroups().size).toBe(waiting);
  });
});
