import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  ConfigError,
  isSpanGroupEnabled,
  nestLensConfigFromEnv,
  setupTelemetry,
  SpanRegistry,
  type TelemetryHandle,
  withSpan,
} from 'nest-lens/core';
import { KeepingExporter } from '../../support/keeping-exporter.js';
import { quietConfig, setUpForTest } from '../../support/live-telemetry.js';
import { removeTelemetryVariables } from '../../support/telemetry-variables.js';

const fromEnv = (env: NodeJS.ProcessEnv) => nestLensConfigFromEnv({ env });

function configErrorOf(fn: () => unknown): ConfigError {
  try {
    fn();
  } catch (error) {
    expect(error).toBeInstanceOf(ConfigError);
    return error as ConfigError;
  }
  throw new Error('nothing was thrown');
}

describe('nestLensConfigFromEnv', () => {
  it('C2: has a default for every key', () => {
    const { runId, origins: _, ...rest } = fromEnv({});
    expect(rest).toEqual({
      enabled: false,
      spanGroups: 'default',
      exporter: 'otlp',
      clientErrors: 'unset',
      tracesEnabled: true,
      metricsEnabled: true,
      instrumentationGroups: false,
      userId: '',
    });
    expect(runId).toMatch(/^[0-9a-f]{6,16}$/);
    expect(fromEnv({}).runId).not.toBe(runId);
  });

  it('C2: reads every key', () => {
    const { origins: _, ...config } = fromEnv({
      NEST_LENS_ENABLED: 'true',
      NEST_LENS_SPAN_GROUPS: 'per_request,-cache',
      NEST_LENS_SPAN_GROUPS_FILE: ' /etc/spans ',
      NEST_LENS_EXPORTER: 'console',
      NEST_LENS_TRACES_ENABLED: 'off',
      NEST_LENS_METRICS_ENABLED: 'no',
      NEST_LENS_INSTRUMENTATION_GROUPS: 'on',
      NEST_LENS_RUN_ID: 'run-7',
      NEST_LENS_USER_ID: 'ada',
      NEST_LENS_CLIENT_ERRORS: 'error',
    });
    expect(config).toEqual({
      enabled: true,
      clientErrors: 'error',
      spanGroups: 'per_request,-cache',
      spanGroupsFile: '/etc/spans',
      exporter: 'console',
      tracesEnabled: false,
      metricsEnabled: false,
      instrumentationGroups: true,
      runId: 'run-7',
      userId: 'ada',
    });
  });

  it('C1: says which variable a value came from, and `default` where none is set', () => {
    const { origins } = fromEnv({ NEMO_LENS_SPAN_GROUPS: ' all ', NEST_LENS_RUN_ID: '7' });
    expect(origins).toEqual({
      enabled: { source: 'default', value: 'false' },
      spanGroups: { source: 'NEMO_LENS_SPAN_GROUPS', value: 'all' },
      runId: { source: 'NEST_LENS_RUN_ID', value: '7' },
      userId: { source: 'default', value: '' },
    });
    expect(Object.isFrozen(origins)).toBe(true);
  });

  it.each([
    ['spread with another key', { serviceName: 'shop' }, 'NEST_LENS_SPAN_GROUPS'],
    ['spread with another spec', { spanGroups: 'orders' }, 'options'],
    ['spread with the same spec in code', { spanGroups: 'all' }, 'NEST_LENS_SPAN_GROUPS'],
  ])('C1: a config that was %s has the spec of %s', async (_case, overrides, source) => {
    SpanRegistry.register('shop', ['orders']);
    await setUpForTest({ ...fromEnv({ NEST_LENS_SPAN_GROUPS: 'all' }), enabled: true, ...overrides });
    const state = (globalThis as Record<symbol, any>)[Symbol.for('nest-lens.state.1')];
    expect(state.telemetry.specSource).toBe(source);
  });

  it.each([
    ['NEMO_LENS', { 'nemo.run.id': '7', 'nemo.user.id': 'ada' }],
    ['NEST_LENS', {}],
  ])('C1: ids from variables of %s have the names that Python gives them, too', async (prefix, nemo) => {
    const exporter = new KeepingExporter();
    const env = { [`${prefix}_RUN_ID`]: '7', [`${prefix}_USER_ID`]: 'ada' };
    const config = { ...fromEnv(env), enabled: true, spanGroups: '', metricsEnabled: false };
    const handle = await setUpForTest(config, { spanExporter: exporter });
    withSpan('work', () => undefined);
    await handle.shutdown();
    const attributes = Object.entries(exporter.spans[0]!.resource.attributes);
    const ids = Object.fromEntries(attributes.filter(([name]) => /^(nemo|nestlens)\./.test(name)));
    expect(ids).toEqual({ 'nestlens.run_id': '7', 'nestlens.user_id': 'ada', ...nemo });
  });

  it('C2: the result is frozen', () => {
    expect(Object.isFrozen(fromEnv({}))).toBe(true);
  });

  it.each<[string, NodeJS.ProcessEnv, string]>([
    ['the primary', { NEST_LENS_SPAN_GROUPS: 'a', NEMO_LENS_SPAN_GROUPS: 'b' }, 'a'],
    ['the primary, trimmed', { NEST_LENS_SPAN_GROUPS: '  a,b \n' }, 'a,b'],
    ['the fallback, without a primary', { NEMO_LENS_SPAN_GROUPS: 'b' }, 'b'],
    ['the fallback, trimmed', { NEMO_LENS_SPAN_GROUPS: ' b ' }, 'b'],
    ['the fallback, past an empty primary', { NEST_LENS_SPAN_GROUPS: '', NEMO_LENS_SPAN_GROUPS: 'b' }, 'b'],
    ['the fallback, past a blank primary', { NEST_LENS_SPAN_GROUPS: ' \t', NEMO_LENS_SPAN_GROUPS: 'b' }, 'b'],
    ['the default, past two blanks', { NEST_LENS_SPAN_GROUPS: ' ', NEMO_LENS_SPAN_GROUPS: '' }, 'default'],
    ['the default, past other prefixes', { SPAN_GROUPS: 'x', LENS_SPAN_GROUPS: 'y' }, 'default'],
  ])('C1: takes %s', (_case, env, expected) => {
    expect(fromEnv(env).spanGroups).toBe(expected);
  });

  it('C1: each key falls back by itself', () => {
    const config = fromEnv({
      NEST_LENS_ENABLED: '0',
      NEMO_LENS_ENABLED: '1',
      NEMO_LENS_SPAN_GROUPS: 'shared',
    });
    expect(config).toMatchObject({ enabled: false, spanGroups: 'shared' });
  });

  it('C1: a process that needs its own words takes its own prefix', () => {
    const env = { WORKER_SPAN_GROUPS: 'jobs', NEST_LENS_SPAN_GROUPS: 'web', NEMO_LENS_ENABLED: '1' };
    expect(nestLensConfigFromEnv({ prefix: 'WORKER', env })).toMatchObject({
      spanGroups: 'jobs',
      enabled: true,
    });
    expect(
      nestLensConfigFromEnv({
        prefix: 'WORKER',
        fallbackPrefix: 'NEST_LENS',
        env: { ...env, WORKER_SPAN_GROUPS: '' },
      }),
    ).toMatchObject({
      spanGroups: 'web',
      enabled: false,
    });
  });

  it.each([
    ...['1', 'true', 'yes', 'on', 'TRUE', 'Yes', 'oN', ' 1 '].map((value) => [value, true] as const),
    ...['0', 'false', 'no', 'off', 'FALSE', 'No', 'oFf', ' 0\n'].map((value) => [value, false] as const),
  ])('C3: %j is %s', (value, expected) => {
    const config = fromEnv({
      NEST_LENS_ENABLED: value,
      NEST_LENS_TRACES_ENABLED: value,
      NEST_LENS_METRICS_ENABLED: value,
      NEST_LENS_INSTRUMENTATION_GROUPS: value,
    });
    const { enabled, tracesEnabled, metricsEnabled, instrumentationGroups } = config;
    expect([enabled, tracesEnabled, metricsEnabled, instrumentationGroups]).toEqual(Array(4).fill(expected));
  });

  it.each(['maybe', '2', 'y', 't', 'enabled', 'true,', '1.0', '__proto__'])(
    'C3: %j is a ConfigError that names the variable, the value and what is allowed',
    (value) => {
      for (const key of ['ENABLED', 'TRACES_ENABLED', 'METRICS_ENABLED', 'INSTRUMENTATION_GROUPS']) {
        const error = configErrorOf(() => fromEnv({ [`NEST_LENS_${key}`]: value }));
        expect(error.name).toBe('ConfigError');
        expect(error.message).toContain(`NEST_LENS_${key}`);
        expect(error.message).toContain(`'${value}'`);
        for (const allowed of ['1', '0', 'true', 'false', 'yes', 'no', 'on', 'off']) {
          expect(error.message).toMatch(new RegExp(`\\b${allowed}\\b`));
        }
      }
    },
  );

  it('C3: the error names the variable that held the value, the fallback too', () => {
    const env = { NEST_LENS_ENABLED: ' ', NEMO_LENS_ENABLED: 'maybe' };
    expect(configErrorOf(() => fromEnv(env)).message).toContain('NEMO_LENS_ENABLED');
    expect(
      configErrorOf(() => nestLensConfigFromEnv({ prefix: 'WORKER', env: { WORKER_ENABLED: 'x' } })).message,
    ).toContain('WORKER_ENABLED');
  });

  it('C3: a bad fallback behind a good primary does no harm', () => {
    expect(fromEnv({ NEST_LENS_ENABLED: '1', NEMO_LENS_ENABLED: 'maybe' }).enabled).toBe(true);
  });

  it('C2: an unknown exporter is a ConfigError that names the variable, the value and what is allowed', () => {
    const { message } = configErrorOf(() => fromEnv({ NEST_LENS_EXPORTER: 'jaeger' }));
    for (const part of ['NEST_LENS_EXPORTER', "'jaeger'", 'otlp', 'console', 'none'])
      expect(message).toContain(part);
  });

  it('C4: an empty variable counts as unset, for every key', () => {
    const env = Object.fromEntries(
      ['ENABLED', 'SPAN_GROUPS', 'EXPORTER', 'TRACES_ENABLED', 'METRICS_ENABLED', 'RUN_ID', 'USER_ID'].map(
        (key) => [`NEST_LENS_${key}`, ''],
      ),
    );
    const { runId, origins, ...rest } = fromEnv({});
    expect(fromEnv(env)).toEqual({
      ...rest,
      runId: expect.stringMatching(/^[0-9a-f]+$/),
      origins: { ...origins, runId: { source: 'default', value: expect.not.stringMatching(runId) } },
    });
  });
});

describe('the process environment', () => {
  let handle: TelemetryHandle | undefined;

  beforeEach(removeTelemetryVariables);
  afterEach(async () => {
    await handle?.shutdown();
    handle = undefined;
  });

  it('C5: is read at the call, not when the file is imported', () => {
    expect(nestLensConfigFromEnv().spanGroups).toBe('default');
    process.env.NEST_LENS_SPAN_GROUPS = 'set_after_the_import';
    expect(nestLensConfigFromEnv().spanGroups).toBe('set_after_the_import');
  });

  it.each(['true', 'TRUE', ' true ', 'True'])(
    'H11: OTEL_SDK_DISABLED=%j disables an enabled set-up',
    async (value) => {
      SpanRegistry.register('shop', ['orders']);
      process.env.OTEL_SDK_DISABLED = value;
      process.env.NEST_LENS_ENABLED = '1';
      handle = await setupTelemetry({ ...nestLensConfigFromEnv(), spanGroups: 'all', exporter: 'none' });
      expect([handle.isExporting, handle.mode, isSpanGroupEnabled('orders')]).toEqual([false, null, false]);
      const second = await setupTelemetry(quietConfig());
      expect([second.mode, isSpanGroupEnabled('orders')]).toEqual([null, false]);
    },
  );

  it.each(['1', 'yes', 'on', 'false', '', 'truee'])('H11: OTEL_SDK_DISABLED=%j does not', async (value) => {
    SpanRegistry.register('shop', ['orders']);
    process.env.OTEL_SDK_DISABLED = value;
    const live = await setUpForTest();
    expect([live.mode, isSpanGroupEnabled('orders')]).toEqual(['own', true]);
  });
});
