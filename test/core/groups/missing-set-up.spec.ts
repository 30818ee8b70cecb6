import { syncBuiltinESMExports } from 'node:module';
import timers from 'node:timers';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { NestLensModule, setEnabledSpanGroups, setSpanGroupSpec, SpanGroup } from 'nest-lens';
import { reportMissingSetUp } from '../../../src/core/groups/missing-set-up.js';
import { captureWarnings } from '../../support/capture-warnings.js';
import { setUpForTest } from '../../support/live-telemetry.js';

class Orders {
  list(): void {}
}
SpanGroup('orders')(Orders);

beforeEach(() => {
  captureWarnings(); // none on the console
});

/** What is said where sites are decorated, and the time is over. */
async function said(
  env: Record<string, string>,
  arrange: () => unknown = () => undefined,
): Promise<string[]> {
  Object.assign(process.env, env);
  await arrange();
  const warnings = captureWarnings();
  reportMissingSetUp();
  reportMissingSetUp();
  return warnings.codes();
}

describe('an application of decorated classes that nobody sets up', () => {
  it.each<[string, Record<string, string>]>([
    ['NEST_LENS_ENABLED', { NEST_LENS_ENABLED: ' On ' }],
    ['NEMO_LENS_ENABLED', { NEMO_LENS_ENABLED: '1' }],
  ])('N4: is told so, once, while %s is true', async (_variable, env) => {
    expect(await said(env)).toEqual(['ROOT_MISSING']);
  });

  it.each<[string, Record<string, string>, () => unknown]>([
    ['the environment does not enable it', {}, () => undefined],
    ['the environment disables it', { NEST_LENS_ENABLED: 'off', NEMO_LENS_ENABLED: 'true' }, () => undefined],
    ['the SDK is disabled', { NEST_LENS_ENABLED: 'true', OTEL_SDK_DISABLED: 'TRUE' }, () => undefined],
    [
      'forRoot was called, and is not done yet',
      { NEST_LENS_ENABLED: 'true' },
      () => NestLensModule.forRoot(),
    ],
    ['it has a set-up of its own', { NEST_LENS_ENABLED: 'true' }, () => setUpForTest()],
    ['its groups are pinned', { NEST_LENS_ENABLED: 'true' }, () => setEnabledSpanGroups([])],
    ['it has a spec', { NEST_LENS_ENABLED: 'true' }, () => setSpanGroupSpec('orders')],
  ])('N4: is told nothing where %s', async (_why, env, arrange) => {
    expect(await said(env, arrange)).toEqual([]);
  });
});

describe('the time within which a set-up is expected', () => {
  afterEach(() => {
    vi.restoreAllMocks();
    syncBuiltinESMExports();
  });

  /** The times that begin when classes are decorated in a process where none was before. */
  async function timesBegun(env: Record<string, string>) {
    const begun: { afterMs: unknown; end: () => void; keepsAlive: boolean }[] = [];
    vi.spyOn(timers, 'setTimeout').mockImplementation(((end: () => void, afterMs: unknown) => {
      const time = { afterMs, end, keepsAlive: true };
      begun.push(time);
      return { unref: () => (time.keepsAlive = false) };
    }) as never);
    syncBuiltinESMExports();
    // A module that looks once a process, in an instance that has not looked yet.
    const path = `../../../src/core/groups/missing-set-up.js?${Math.random()}`;
    const { missSetUpLater } = (await import(
      path
    )) as typeof import('../../../src/core/groups/missing-set-up.js');
    Object.assign(process.env, env);
    missSetUpLater();
    missSetUpLater();
    process.env.NEST_LENS_ENABLED = 'true';
    missSetUpLater();
    return begun;
  }

  it('N4: is ten seconds from the first class that is decorated, and keeps no process alive', async () => {
    const times = await timesBegun({ NEST_LENS_ENABLED: 'true' });
    expect(times).toEqual([{ afterMs: 10_000, end: expect.any(Function), keepsAlive: false }]);
    const warnings = captureWarnings();
    times[0]!.end();
    expect(warnings.codes()).toEqual(['ROOT_MISSING']);
  });

  it('N4: does not begin where the environment enables nothing as the first class is decorated', async () => {
    expect(await timesBegun({})).toEqual([]);
  });
});
