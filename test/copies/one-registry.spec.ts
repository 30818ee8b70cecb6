// A process with the built package in it several times.
import { beforeAll, describe, expect, it, vi } from 'vitest';
import { runOnCopies, type ScriptRun } from './package-copies.js';

vi.setConfig({ hookTimeout: 60_000 });

const PAIRS: [name: string, first: string, second: string][] = [
  ['the ESM and the CommonJS build of one copy', "'one', 'core', 'node'", "'one', 'core', 'cjs'"],
  ['the CommonJS and the ESM build of one copy', "'one', 'core', 'cjs'", "'one', 'core', 'node'"],
  ['two ESM copies in different folders', "'one', 'core', 'node'", "'two', 'core', 'node'"],
  ['two CommonJS copies in different folders', "'one', 'core', 'cjs'", "'two', 'core', 'cjs'"],
  ['a CommonJS copy and an ESM copy elsewhere', "'one', 'core', 'cjs'", "'two', 'core', 'node'"],
];

/** What one pair has seen; in this order, so that nothing of one part is in the way of the next. */
const SCRIPT = `
  const thrown = (act) => {
    try {
      act();
    } catch (error) {
      return [error.name, error.code, error instanceof a.NestLensError];
    }
  };

  async function setUp() {
    a.setLensLogger({ warn: () => undefined });
    a.SpanRegistry.register('shop', ['orders']);
    const names = [];
    const spanExporter = {
      export: (spans, done) => { names.push(...spans.map(({ name }) => name)); done({ code: 0 }); },
      shutdown: async () => {},
    };
    const config = { ...a.nestLensConfigFromEnv({ env: {} }), enabled: true, spanGroups: 'all', metricsEnabled: false };
    const handle = await a.setupTelemetry(config, { spanExporter });
    let refused;
    await b.setupTelemetry(config, { spanExporter }).catch((error) => { refused = error.name; });
    a.managedSpan('orders', 'of the first', () => b.managedSpan('orders', 'of the second', () => undefined));
    await handle.shutdown();
    b.managedSpan('orders', 'too late', () => undefined);
    a.SpanRegistry.unregister('shop');
    return { refused, names, on: b.isSpanGroupEnabled('orders') };
  }

  function share() {
    a.SpanRegistry.register('shop', ['orders'], { default: ['orders', 'cache'] });
    const site = a.traceFn('cache', 'cache.get')(() => b.isSpanGroupEnabled('cache'));
    b.setSpanGroupSpec('default');
    const before = site();
    b.SpanRegistry.register('cache', ['cache']);
    const shared = {
      differ: a.managedSpan !== b.managedSpan,
      namespaces: [a.SpanRegistry.namespaces(), b.SpanRegistry.namespaces()],
      enabled: [[...a.enabledSpanGroups()].sort(), [...b.enabledSpanGroups()].sort()],
      late: [before, site()],
      slots: Object.getOwnPropertySymbols(globalThis)
        .map((symbol) => Symbol.keyFor(symbol) ?? '')
        .filter((key) => key.startsWith('nest-lens')),
    };
    b.setSpanGroupSpec('all');
    for (const namespace of ['shop', 'cache']) a.SpanRegistry.unregister(namespace);
    return shared;
  }

  function complain() {
    const warned = [];
    a.setLensLogger({ warn: (message, { code, details }) => warned.push([code, details.groups]) });
    const recordedBefore = globalThis[SLOT].recordedWarnings.length;
    a.SpanRegistry.register('shop', ['orders']);
    b.SpanRegistry.register('billing', ['orders']);
    const recorded = globalThis[SLOT].recordedWarnings.slice(recordedBefore).map(({ code }) => code);
    const registered = thrown(() => b.SpanRegistry.register('shop', ['orders']));
    a.setEnabledSpanGroups([]);
    return { warned, recorded, thrown: [registered, thrown(() => b.overrideSpanGroups('all'))] };
  }

  result({ setUp: await setUp(), shared: share(), complaints: complain() });`;

interface Seen {
  setUp: unknown;
  shared: unknown;
  complaints: unknown;
}

let runs: ScriptRun<Seen>[];
beforeAll(async () => {
  runs = await runOnCopies(
    PAIRS.map(([, first, second]) => ({
      script: `const a = await load(${first}), b = await load(${second});${SCRIPT}`,
    })),
  );
});

describe.each(PAIRS.map(([name], at) => ({ name, at })))('$name', ({ at }) => {
  it('R1: are different code with one registry, one spec and one set of gates', () => {
    expect(runs[at]!.result.shared).toEqual({
      differ: true,
      namespaces: [
        ['cache', 'shop'],
        ['cache', 'shop'],
      ],
      enabled: [
        ['cache', 'orders'],
        ['cache', 'orders'],
      ],
      late: [false, true],
      slots: ['nest-lens.state.1'],
    });
  });

  it('R4, R6, T7: warn about each other, once, to the logger that either was given, and throw errors with name and code', () => {
    expect(runs[at]!.result.complaints).toEqual({
      warned: [['GROUP_COLLISION', ['orders']]],
      recorded: ['GROUP_COLLISION'],
      thrown: [
        ['SpanRegistryError', 'NAMESPACE_REGISTERED', false],
        ['NestLensError', 'PINNED', false],
      ],
    });
    expect(runs[at]!.stderr).toBe('');
  });

  it('H1: share one set-up, whose exporter gets the spans of both', () => {
    expect(runs[at]!.result.setUp).toEqual({
      refused: 'TelemetryAlreadySetUpError',
      names: ['of the second', 'of the first'],
      on: false,
    });
  });
});
