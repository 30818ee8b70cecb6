import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type EnvOptions, nestLensConfigFromEnv, SpanRegistry } from 'nest-lens/core';
import { captureWarnings } from '../../support/capture-warnings.js';
import { setUpForTest } from '../../support/live-telemetry.js';

const warningsOf = (env: NonNullable<EnvOptions['env']>, options: EnvOptions = {}): string[] => {
  const warnings = captureWarnings();
  nestLensConfigFromEnv({ ...options, env });
  return warnings.all.map(({ message }) => message);
};

describe('a variable that is nearly one of ours', () => {
  it.each([
    ['NEST_LENS_SPANGROUPS', 'NEST_LENS_SPAN_GROUPS'],
    ['NEST_LENS_SPAN_GROUP', 'NEST_LENS_SPAN_GROUPS'],
    ['NESTLENS_SPAN_GROUPS', 'NEST_LENS_SPAN_GROUPS'],
    ['nest_lens_enabled', 'NEST_LENS_ENABLED'],
    ['NEST_LENS_ENABELD', 'NEST_LENS_ENABLED'],
    ['NEST_LENS_EXPORTERS', 'NEST_LENS_EXPORTER'],
    ['NEST_LENS_SPAN_GROUP_FILE', 'NEST_LENS_SPAN_GROUPS_FILE'],
    ['NEMO_LENS_SPANGROUPS', 'NEMO_LENS_SPAN_GROUPS'],
  ])('C2: %s has no effect, and the warning proposes %s', (variable, meant) => {
    const messages = warningsOf({ [variable]: 'all' });
    expect(messages).toHaveLength(1);
    expect(messages[0]).toContain(`${variable} has no effect`);
    expect(messages[0]).toContain(meant);
  });

  it.each([
    ['the right names', { NEST_LENS_SPAN_GROUPS: 'all', NEST_LENS_ENABLED: 'true' }],
    ['one that is empty', { NEST_LENS_SPANGROUPS: ' ' }],
    ['names that processes in Python may have', { NEMO_LENS_TRACE_FILE: 'x', NEMO_LENS_ENABLED_RANKS: '0' }],
    ['names of somebody else', { NEST_LENS_DASHBOARD_URL: 'x', NEST_LENSES: '1', PATH: '/bin' }],
  ])('C2: nothing is said of %s', (_what, env) => {
    expect(warningsOf(env)).toEqual([]);
  });

  it('C1: with a prefix of its own, a process is told about names with that prefix', () => {
    expect(
      warningsOf({ WORKER_SPANGROUPS: 'all', NEST_LENS_SPANGROUPS: 'all' }, { prefix: 'WORKER' }),
    ).toEqual([expect.stringContaining('WORKER_SPAN_GROUPS')]);
  });

  it('C2: is said once, however often the environment is read', () => {
    const warnings = captureWarnings();
    for (let time = 0; time < 3; time++) nestLensConfigFromEnv({ env: { NEST_LENS_SPANGROUPS: 'all' } });
    expect(warnings.all.map(({ message }) => message)).toHaveLength(1);
  });
});

describe('a set-up from the environment', () => {
  beforeEach(() => SpanRegistry.register('shop', ['orders', 'db_read']));
  afterEach(() => SpanRegistry.clear());

  const codesOf = async (env: NonNullable<EnvOptions['env']>, changes: object = {}): Promise<string[]> => {
    const warnings = captureWarnings();
    const handle = await setUpForTest({ ...nestLensConfigFromEnv({ env }), exporter: 'none', ...changes });
    await handle.shutdown();
    return warnings.codes();
  };

  it.each([{ NEST_LENS_SPAN_GROUPS: 'orders' }, { NEST_LENS_SPAN_GROUPS_FILE: '/etc/span-groups' }])(
    'C2: says that %j names groups and nothing enables telemetry, with the variable to set',
    async (env) => {
      const warnings = captureWarnings();
      await setUpForTest(nestLensConfigFromEnv({ env }));
      expect(warnings.all.map(({ message }) => message)).toEqual([
        expect.stringContaining('Set NEST_LENS_ENABLED=true'),
      ]);
    },
  );

  it.each([
    ['a variable says no', { NEST_LENS_SPAN_GROUPS: 'orders', NEST_LENS_ENABLED: 'false' }],
    ['no groups are named', {}],
  ])('H2: an off telemetry stays silent where %s', async (_why, env) => {
    expect(await codesOf(env)).toEqual([]);
  });

  it.each([
    ['all,-orders', ['SPEC_NOT_SHARED']],
    ['db_*', ['SPEC_NOT_SHARED']],
    ['orders', []],
  ])('S6: %s in a variable that Python processes read gives %j', async (spec, codes) => {
    const env = {
      NEMO_LENS_SPAN_GROUPS: spec,
      NEMO_LENS_ENABLED: 'true',
      NEST_LENS_METRICS_ENABLED: 'false',
    };
    expect(await codesOf(env)).toEqual(codes);
  });

  it('S6: the same spec in a variable of NestLens alone is nobody else’s business', async () => {
    const env = {
      NEST_LENS_SPAN_GROUPS: 'db_*',
      NEST_LENS_ENABLED: 'true',
      NEST_LENS_METRICS_ENABLED: 'false',
    };
    expect(await codesOf(env)).toEqual([]);
  });
});
