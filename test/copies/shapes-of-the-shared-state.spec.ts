// What docs/shared-state.md promises: copies of one protocol share, another protocol or shape is kept apart.
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, it, vi } from 'vitest';
import { createProcessState } from '../../src/core/state/process-state.js';
import { type CopiesScript, runOnCopies, type ScriptRun } from './package-copies.js';

vi.setConfig({ hookTimeout: 60_000 });

describe('docs/shared-state.md', () => {
  const read = (path: string): string =>
    readFileSync(fileURLToPath(new URL(`../../${path}`, import.meta.url)), 'utf8');

  it('R1: names every token and metadata key by which copies find each other', () => {
    const page = read('docs/shared-state.md');
    const sources = readdirSync(fileURLToPath(new URL('../../src', import.meta.url)), { recursive: true })
      .map(String)
      .filter((name) => name.endsWith('.ts'))
      .map((name) => read(`src/${name}`));
    const names = sources.flatMap((source) => source.match(/'nest-lens[.:][a-z.-]*[a-z]'/g) ?? []);
    expect(names.length).toBeGreaterThan(5);
    expect(names.filter((name) => !page.includes(name))).toEqual([]);
  });

  it('R1: says what each field of the slot holds, and names no other', () => {
    const [, table] = /\n## Its fields\n([\s\S]*?)\n## /.exec(read('docs/shared-state.md'))!;
    const rows = table!.split('\n').filter((line) => line.startsWith('| `'));
    const fields = rows.flatMap((row) =>
      [...row.split('|')[1]!.matchAll(/`(\w+)`/g)].map(([, name]) => name),
    );
    expect(fields.sort()).toEqual(Object.keys(createProcessState()).sort());
  });
});

/** A whole application on whatever slot there is. */
const USE_EVERYTHING = `
  import 'reflect-metadata';
  import { Module } from '@nestjs/common';
  import { NestFactory } from '@nestjs/core';
  const lens = await load('one', 'index');
  const { captureSpans, resetNestLens } = await load('one', 'testing');
  const captured = captureSpans();
  const shop = { namespace: 'shop', groups: ['orders'], presets: { default: ['orders'] } };
  class AppModule {}
  Module({ imports: [lens.NestLensModule.forRoot({
    registrations: [shop],
    config: { enabled: true, spanGroups: 'default,typo', metricsEnabled: false },
    telemetry: { spanProcessors: [captured.spanProcessor] },
  })] })(AppModule);
  const app = await NestFactory.create(AppModule, { logger: false, abortOnError: false });
  await app.listen(0, '127.0.0.1');
  lens.managedSpan('orders', 'orders.list', () => undefined);
  lens.overrideSpanGroups('all', { ttlMs: 60_000 });
  const document = await (await fetch((await app.getUrl()) + '/lens/groups')).json();
  await app.close();
  const outcome = {
    spans: captured.spans().map(({ name }) => name),
    mode: document.telemetry.mode,
    enabled: document.enabled,
    override: document.spec.override.spec,
    warnings: document.warnings.map(({ code }) => code),
    left: lens.SpanRegistry.namespaces(),
  };
`;
const OUTCOME = {
  spans: ['orders.list'],
  mode: 'own',
  enabled: ['orders'],
  override: 'all',
  warnings: ['SPEC_UNRESOLVED'],
  left: [],
};

const USED_BY_A_NEWER_COPY = `
  const newer = await load('two', 'core');
  const slot = globalThis[SLOT];
  slot.quotas = new Map([['orders', { perMinute: 10 }]]);
  slot.telemetry.pausedBy = 'somebody';
  newer.SpanRegistry.register('newer', ['newer_group']);
  slot.namespaces.get('newer').owner = { team: 'core' };
  slot.gates.set('newer_group', { name: 'newer_group', enabled: false, sampled: 0.5 });
  ${USE_EVERYTHING}
  result({
    outcome: { ...outcome, left: undefined, enabled: undefined },
    enabled: outcome.enabled,
    kept: [
      slot.quotas.get('orders'),
      slot.telemetry.pausedBy,
      slot.namespaces.get('newer').owner,
      slot.gates.get('newer_group').sampled,
    ],
  });`;

const useBoth = (first: string, second: string): string => `
  const first = await load('${first}'), second = await load('${second}');
  first.SpanRegistry.register('first', ['orders']);
  second.SpanRegistry.register('second', ['orders']);
  first.setSpanGroupSpec('all');
  second.SpanRegistry.register('again', ['cache']);
  result({
    namespaces: [first.SpanRegistry.namespaces(), second.SpanRegistry.namespaces()],
    on: [first.isSpanGroupEnabled('orders'), second.isSpanGroupEnabled('orders')],
    recorded: [1, 2].map((protocol) =>
      globalThis[Symbol.for('nest-lens.state.' + protocol)].recordedWarnings.map(({ code }) => code)),
  });`;

const useStrange = (slot: string): string => `
  const strange = ${slot};
  if (strange !== null) Object.freeze(strange);
  Object.defineProperty(globalThis, SLOT, { value: strange, configurable: true });
  const lens = await load('one');
  lens.SpanRegistry.register('shop', ['orders']);
  lens.setSpanGroupSpec('orders');
  result({ on: lens.isSpanGroupEnabled('orders'), isSame: globalThis[SLOT] === strange });`;

/** Two copies whose versions and protocols differ. */
const apart = (script: string): CopiesScript => ({
  script,
  one: { version: '1.4.0' },
  two: { version: '2.0.0', protocol: 2 },
});

const SCRIPTS = {
  'used by a newer copy': { script: USED_BY_A_NEWER_COPY },
  'the older one was there first': apart(useBoth('one', 'two')),
  'the newer one was there first': apart(useBoth('two', 'one')),
  'says another number': apart(useStrange("{ protocol: 7, version: '8.8.8' }")),
  'lacks a field': apart(useStrange("{ protocol: 1, version: '7.7.7', namespaces: new Map() }")),
  'is null': apart(useStrange('null')),
};

let runs: ScriptRun<unknown>[];
beforeAll(async () => {
  runs = await runOnCopies(Object.values(SCRIPTS));
});
const runOf = (script: keyof typeof SCRIPTS): ScriptRun<unknown> =>
  runs[Object.keys(SCRIPTS).indexOf(script)]!;

describe('A slot of the same protocol', () => {
  it('R1: that another copy made, with fields that this one does not know, is used and left as it is', () => {
    const { result, stderr } = runOf('used by a newer copy');
    expect(result).toEqual({
      outcome: { ...OUTCOME, left: undefined, enabled: undefined },
      // The override of the run is 'all', which means the newer copy's groups as well.
      enabled: ['newer_group', 'orders'],
      kept: [{ perMinute: 10 }, 'somebody', { team: 'core' }, 0.5],
    });
    expect(stderr).toBe('');
  });
});

describe('A slot of another protocol', () => {
  const APART = { namespaces: [['first'], ['again', 'second']], on: [true, false] };

  it.each([
    ['the older one was there first', [[], ['STATE_PROTOCOL_MISMATCH']]],
    ['the newer one was there first', [['STATE_PROTOCOL_MISMATCH'], []]],
  ] as const)('R1: gives one message that names both versions, and each goes on: %s', (script, recorded) => {
    const { result, stderr } = runOf(script);
    expect(result).toEqual({ ...APART, recorded });
    const lines = stderr.trim().split('\n');
    expect(lines).toHaveLength(1);
    expect(lines[0]).toContain('1.4.0');
    expect(lines[0]).toContain('2.0.0');
    expect(lines[0]).toContain('Install one version');
  });

  it.each([
    ['says another number', '8.8.8'],
    ['lacks a field', '7.7.7'],
    ['is null', 'undefined'],
  ] as const)('R1: that stands under our key and %s is not written into', (script, version) => {
    const { result, stderr } = runOf(script);
    expect(result).toEqual({ on: true, isSame: true });
    expect(stderr.trim().split('\n')).toHaveLength(1);
    expect(stderr).toContain('1.4.0');
    expect(stderr).toContain(version);
  });
});
