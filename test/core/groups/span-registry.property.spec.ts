import { describe, expect, it } from 'vitest';
import fc from 'fast-check';
import {
  clearSpanGroupOverride,
  enabledSpanGroups,
  isSpanGroupEnabled,
  type NestLensConfig,
  nestLensConfigFromEnv,
  overrideSpanGroups,
  pendingSpanGroups,
  setEnabledSpanGroups,
  setSpanGroupSpec,
  setupTelemetry,
  SpanRegistry,
  type SpanRegistryError,
} from 'nest-lens/core';
import { resetProcessState } from '../../../src/core/state/process-state.js';
import { captureWarnings } from '../../support/capture-warnings.js';
import { NaiveLens, type NaiveOutcome, type NaiveRegistration } from '../../support/naive-lens.js';

const GROUPS = ['orders', 'cache', 'db_query', 'db_tx', '__proto__', 'constructor', 'my-group', 'step'];
const PRESETS = ['default', 'per_request', 'orders', 'tostring', '__proto__', 'haunted'];
const MEMBERS = [...GROUPS, 'ghost'];
const NAMESPACES = ['shop', 'engine', '__proto__', 'constructor', 'Shop'];

type Step =
  | ({ kind: 'register' } & NaiveRegistration)
  | { kind: 'unregister'; namespace: string }
  | { kind: 'clear' }
  | { kind: 'setSpec'; spec: string }
  | { kind: 'pin'; groups: string[] }
  | { kind: 'override'; spec: string }
  | { kind: 'clearOverride' };

const mixedCase = (names: string[]): fc.Arbitrary<string> =>
  fc.oneof(
    { weight: 5, arbitrary: fc.constantFrom(...names) },
    { weight: 1, arbitrary: fc.constantFrom(...names).map((name) => ` ${name.toUpperCase()}\n`) },
  );
const groupName = fc.oneof(
  { weight: 30, arbitrary: mixedCase(GROUPS) },
  { weight: 1, arbitrary: fc.constantFrom('all', ' ALL ', '', '  ') },
);
const presetName = fc.oneof(
  { weight: 20, arbitrary: fc.constantFrom(...PRESETS) },
  { weight: 1, arbitrary: fc.constant('all') },
);
const entry = fc.oneof(
  { weight: 4, arbitrary: mixedCase([...GROUPS, ...PRESETS, 'all']) },
  { weight: 1, arbitrary: fc.constantFrom('ghost', 'tpyo', 'haunted', '') },
  { weight: 2, arbitrary: fc.constantFrom('db_*', '*', '*e*', 'nope_*', '*_q*y', '__*', 'o*s*s', 'c*e') },
  {
    weight: 1,
    arbitrary: fc.constantFrom('-cache', '-db_*', '-default', '-all', '-*', '-tpyo', '-nope*', '-my-group'),
  },
);
const spec = fc.oneof(
  {
    weight: 12,
    arbitrary: fc.array(entry, { minLength: 1, maxLength: 4 }).map((entries) => entries.join(',')),
  },
  { weight: 1, arbitrary: fc.constantFrom('', '  ', 'default', 'all') },
);
const registration: fc.Arbitrary<Step> = fc
  .record({
    namespace: fc.oneof(
      { weight: 30, arbitrary: fc.constantFrom(...NAMESPACES) },
      { weight: 1, arbitrary: fc.constant('') },
    ),
    groups: fc.array(groupName, { maxLength: 4 }),
    presets: fc.uniqueArray(fc.tuple(presetName, fc.array(mixedCase(MEMBERS), { maxLength: 3 })), {
      maxLength: 3,
      selector: ([name]) => name,
    }),
    allowOverride: fc.boolean(),
  })
  .map((call) => ({ kind: 'register', ...call }));

const registryStep: fc.Arbitrary<Step> = fc.oneof(
  { weight: 10, arbitrary: registration },
  {
    weight: 4,
    arbitrary: fc.constantFrom(...NAMESPACES).map((namespace): Step => ({ kind: 'unregister', namespace })),
  },
  { weight: 1, arbitrary: fc.constant<Step>({ kind: 'clear' }) },
);
const specStep: fc.Arbitrary<Step> = spec.map((text) => ({ kind: 'setSpec', spec: text }));
const pinStep: fc.Arbitrary<Step> = fc
  .array(fc.constantFrom(...GROUPS, 'ghost'), { maxLength: 3 })
  .map((groups) => ({ kind: 'pin', groups }));
const overrideStep: fc.Arbitrary<Step> = fc.oneof(
  { weight: 2, arbitrary: spec.map((text): Step => ({ kind: 'override', spec: text })) },
  { weight: 1, arbitrary: fc.constant<Step>({ kind: 'clearOverride' }) },
);

const anyStep = fc.oneof(
  { weight: 10, arbitrary: registryStep },
  { weight: 3, arbitrary: specStep },
  { weight: 1, arbitrary: pinStep },
  { weight: 2, arbitrary: overrideStep },
);
/** A pin ends what an enabled set-up began, so it has no place in a run that begins with one. */
const stepAfterSetUp = fc.oneof({ weight: 12, arbitrary: registryStep }, { weight: 2, arbitrary: specStep });

function doNaively(naive: NaiveLens, step: Step): NaiveOutcome {
  switch (step.kind) {
    case 'register':
      return naive.register(step);
    case 'unregister':
      return naive.unregister(step.namespace);
    case 'clear':
      return naive.clear();
    case 'setSpec':
      return naive.setSpec(step.spec);
    case 'pin':
      return naive.pin(step.groups);
    case 'override':
      return naive.overrideWith(step.spec);
    case 'clearOverride':
      return naive.clearOverride();
  }
}

function doReally(step: Step): void {
  switch (step.kind) {
    case 'register':
      return SpanRegistry.register(
        step.namespace,
        new Set(step.groups),
        Object.fromEntries(step.presets),
        step.allowOverride ? { allowOverride: true } : undefined,
      );
    case 'unregister':
      return SpanRegistry.unregister(step.namespace);
    case 'clear':
      return SpanRegistry.clear();
    case 'setSpec':
      return setSpanGroupSpec(step.spec);
    case 'pin':
      return setEnabledSpanGroups(step.groups);
    case 'override':
      return overrideSpanGroups(step.spec);
    case 'clearOverride':
      return clearSpanGroupOverride();
  }
}

function outcomeOf(step: Step, takeWarnings: () => string[]): NaiveOutcome {
  try {
    doReally(step);
  } catch (error) {
    return { refused: (error as SpanRegistryError).code, ...noWarnings(takeWarnings()) };
  }
  return { warned: takeWarnings() };
}

/** A refusal says nothing else; if it did, the comparison shows what. */
function noWarnings(codes: string[]): object {
  return codes.length === 0 ? {} : { warned: codes };
}

function readReal() {
  const probes = [
    'all',
    'default',
    'orders,tpyo',
    '*,-db_*',
    '-default,all',
    'per_request,__proto__,constructor',
  ];
  return {
    groups: [...SpanRegistry.groups()].sort(),
    namespaces: [...SpanRegistry.namespaces()],
    presets: [...SpanRegistry.presets()].map(([name, members]) => [name, [...members].sort()]).sort(),
    resolved: probes.map((probe) => {
      const { enabled, pending } = SpanRegistry.resolve(probe);
      return [probe, [...enabled].sort(), [...pending].sort()];
    }),
    enabled: [...enabledSpanGroups()].sort(),
    pending: [...pendingSpanGroups()].sort(),
    gates: MEMBERS.filter((name) => isSpanGroupEnabled(name)).sort(),
  };
}

function readNaive(naive: NaiveLens, probes: string[]): ReturnType<typeof readReal> {
  return {
    groups: naive.groups(),
    namespaces: naive.namespaces(),
    presets: naive.presets().sort(),
    resolved: probes.map((probe) => [probe, naive.resolve(probe).enabled, naive.resolve(probe).pending]),
    enabled: naive.enabled(),
    pending: naive.pending(),
    gates: MEMBERS.filter((name) => naive.enabled().includes(name)).sort(),
  };
}

function compareStepByStep(steps: readonly Step[], naive: NaiveLens, takeWarnings: () => string[]): void {
  for (const step of steps) {
    expect(outcomeOf(step, takeWarnings)).toEqual(doNaively(naive, step));
    const real = readReal();
    expect(real).toEqual(
      readNaive(
        naive,
        real.resolved.map(([probe]) => probe as string),
      ),
    );
  }
}

describe('the registry, step by step against a naive model', () => {
  it('R6 R10 R11 R19 R21 R23 T2-T7 W2-W8: every step leaves the same state and logs the same warnings', () => {
    fc.assert(
      fc.property(fc.array(anyStep, { minLength: 1, maxLength: 25 }), (steps) => {
        resetProcessState();
        const warnings = captureWarnings();
        compareStepByStep(steps, new NaiveLens(false), () => warnings.take());
      }),
      { numRuns: 300 },
    );
  });

  it('W5 W7 W8: after an enabled set-up every registration is late, and nothing else differs', async () => {
    const config: NestLensConfig = {
      ...nestLensConfigFromEnv({ env: {} }),
      enabled: true,
      exporter: 'none',
      metricsEnabled: false,
    };
    await fc.assert(
      fc.asyncProperty(
        spec,
        fc.array(stepAfterSetUp, { minLength: 1, maxLength: 25 }),
        async (spanGroups, steps) => {
          const warnings = captureWarnings();
          // Reading the state asks about names that nobody has registered, which is said as well; the model knows no calls.
          const take = (): string[] => warnings.take().filter((code) => code !== 'UNKNOWN_GROUP_AT_SITE');
          const naive = new NaiveLens(true);
          const handle = await setupTelemetry({ ...config, spanGroups });
          try {
            expect({ warned: take() }).toEqual(naive.setSpec(spanGroups));
            compareStepByStep(steps, naive, take);
          } finally {
            await handle.shutdown();
            resetProcessState();
          }
        },
      ),
      { numRuns: 60 },
    );
  }, 60_000);
});

describe('messages of the registry', () => {
  it('R18: no message calls a name unregistered that it also lists as registered', () => {
    fc.assert(
      fc.property(fc.array(anyStep, { minLength: 1, maxLength: 25 }), (steps) => {
        resetProcessState();
        const warnings = captureWarnings();
        for (const step of steps) outcomeOf(step, () => warnings.take());
        for (const { code, details } of warnings.all) {
          if (code !== 'SPEC_UNRESOLVED') continue;
          const { pending, groups, presets } = details as Record<'pending' | 'groups' | 'presets', string[]>;
          expect(pending.filter((name) => groups.includes(name) || presets.includes(name))).toEqual([]);
          expect(presets).toContain('all');
        }
      }),
      { numRuns: 100 },
    );
  });
});
