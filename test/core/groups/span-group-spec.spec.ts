import { beforeEach, describe, expect, it } from '@jest/globals';
import { enabledSpanGroups, pendingSpanGroups, setSpanGroupSpec, SpanRegistry } from 'nest-lens/core';
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

  it('S6: a long pattern takes no long time', () => {
    SpanRegistry.register('long', ['a'.repeat(2_000)]);
    const started = performance.now();
    expect(resolved(`${'*a'.repeat(500)}*b`).enabled).toEqual([]);
    expect(performance.now() - started).toBeLessThan(500);
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
