import { beforeEach, describe, expect, it } from 'vitest';
import fc from 'fast-check';
import {
  clearSpanGroupOverride,
  overrideSpanGroups,
  setEnabledSpanGroups,
  setSpanGroupSpec,
  SpanRegistry,
} from 'nest-lens/core';
import { holdGatesOpen } from '../../../src/core/groups/held-gates.js';
import { applySourcedSpec } from '../../../src/core/groups/sourced-spec.js';
import { clearOverrideAs } from '../../../src/core/groups/span-group-override.js';
import { spanGate } from '../../../src/core/groups/span-gate.js';
import { beginPreview, type SpanPreview } from '../../../src/core/groups/span-preview.js';
import { processState, resetProcessState } from '../../../src/core/state/process-state.js';
import { captureWarnings } from '../../support/capture-warnings.js';

const GROUPS = ['orders', 'db_query', 'cache', '__proto__', 'late'];
const groups = fc.subarray(GROUPS, { minLength: 1 });
const spec = fc.constantFrom(
  '',
  'all',
  '-all',
  'orders',
  'db_*,cache',
  'default',
  'all,-cache',
  'nobody',
  '__proto__',
);
const step = fc.oneof(
  fc.record({ kind: fc.constant('hold'), groups }),
  fc.record({ kind: fc.constant('release'), which: fc.nat(5), twice: fc.boolean() }),
  fc.record({ kind: fc.constantFrom('preview'), groups }),
  fc.record({ kind: fc.constant('endPreview') }),
  fc.record({ kind: fc.constantFrom('override', 'setSpec', 'source'), spec }),
  fc.record({ kind: fc.constantFrom('clearOverride', 'expire', 'sourceGone', 'unregister') }),
  fc.record({ kind: fc.constantFrom('register', 'pin'), groups }),
);
type Step = { kind: string; groups?: string[]; spec?: string; which?: number; twice?: boolean };

/** What holds gates open for another reason than the spec: of each hold the groups. */
class Holds {
  private readonly held: { groups: string[]; letGo: () => void }[] = [];
  private preview: { groups: string[]; preview: SpanPreview } | undefined;

  take(step: Step): void {
    if (step.kind === 'hold') this.held.push({ groups: step.groups!, letGo: holdGatesOpen(step.groups!) });
    if (step.kind === 'release') {
      const [found] = this.held.splice(step.which! % Math.max(this.held.length, 1), 1);
      found?.letGo();
      if (step.twice) found?.letGo();
    }
    if (step.kind === 'preview') {
      const preview = beginPreview(step.groups!);
      expect(preview === undefined).toBe(this.preview !== undefined);
      if (preview !== undefined) this.preview = { groups: step.groups!, preview };
    }
    if (step.kind === 'endPreview') {
      this.preview?.preview.end();
      this.preview = undefined;
    }
  }

  get groups(): string[] {
    return [...this.held.flatMap(({ groups: held }) => held), ...(this.preview?.groups ?? [])];
  }
}

const STEPS: Readonly<Record<string, (step: Step) => void>> = {
  override: (given) => overrideSpanGroups(given.spec!, { ttlMs: 60_000 }),
  clearOverride: () => clearSpanGroupOverride(),
  expire: () => clearOverrideAs('(expired)'),
  setSpec: (given) => setSpanGroupSpec(given.spec!),
  source: (given) => applySourcedSpec('file', given.spec),
  sourceGone: () => applySourcedSpec('file', undefined),
  pin: (given) => setEnabledSpanGroups(given.groups!),
  register: (given) =>
    SpanRegistry.register('shop', given.groups!, { default: ['orders'] }, { allowOverride: true }),
  unregister: () => SpanRegistry.unregister('shop'),
};

/** A pinned process takes no override, and nobody can unregister what isn't registered; both throw, and change nothing. */
function perform(given: Step): void {
  try {
    STEPS[given.kind]?.(given);
  } catch (error) {
    expect((error as { code?: string }).code).toMatch(/^(PINNED|NAMESPACE_NOT_REGISTERED)$/);
  }
}

/** The rule, without the code that keeps it. */
function enabledByRule(): string[] {
  const { pinned, enabled, override, sourced, configured } = processState;
  if (pinned) return [...enabled];
  const layer = override ?? sourced ?? configured;
  return layer === undefined ? [] : [...SpanRegistry.resolve(layer.spec.raw).enabled];
}

describe('gates', () => {
  beforeEach(() => void captureWarnings());

  it('S4 I1 H12: are open for what is on and for what is held, and for nothing else, whatever comes in which order', () => {
    fc.assert(
      fc.property(fc.array(step, { minLength: 1, maxLength: 30 }), (steps) => {
        resetProcessState();
        captureWarnings();
        for (const group of GROUPS) spanGate(group);
        const holds = new Holds();
        for (const given of steps as Step[]) {
          holds.take(given);
          perform(given);
          const wanted = [...new Set([...enabledByRule(), ...holds.groups])].sort();
          expect([...processState.open].sort()).toEqual(wanted);
          expect(GROUPS.filter((group) => spanGate(group).enabled).sort()).toEqual(wanted);
          expect(processState.isAdmitted !== undefined).toBe(holds.groups.length > 0);
        }
      }),
      { numRuns: 150 },
    );
  });

  it('stay as others hold them when a preview ends that a reset has outlived', async () => {
    const preview = beginPreview(['orders'])!;
    resetProcessState();
    await preview.ended;
    const letGo = holdGatesOpen(['orders']);
    preview.end();
    expect([[...processState.open], processState.isAdmitted !== undefined]).toEqual([['orders'], true]);
    letGo();
    expect([[...processState.open], processState.isAdmitted !== undefined]).toEqual([[], false]);
  });
});
