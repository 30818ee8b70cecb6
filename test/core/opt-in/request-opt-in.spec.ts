// The option requestOptIn where there is no Nest: contexts that are extracted, and what is said at the start.
import { describe, expect, it, vi } from 'vitest';
import { context, propagation, ROOT_CONTEXT } from '@opentelemetry/api';
import {
  extractContext,
  injectContext,
  isSpanGroupEnabled,
  type LensWarning,
  type RequestOptInOptions,
  setEnabledSpanGroups,
  setLensLogger,
  setupTelemetry,
  signSpanGroups,
  SpanRegistry,
} from 'nest-lens/core';
import { registeredApis } from '../../../src/core/telemetry/otel-globals.js';
import { processState } from '../../../src/core/state/process-state.js';
import { quietConfig, setUpForTest } from '../../support/live-telemetry.js';

vi.setConfig({ testTimeout: 30_000 });

const KEY = 'k'.repeat(32);
const headers = (spec = 'orders', key = KEY): Record<string, string> => ({
  'X-Lens-Groups': signSpanGroups(spec, { key }),
});

async function setUp(requestOptIn: RequestOptInOptions): Promise<LensWarning[]> {
  const warnings: LensWarning[] = [];
  setLensLogger({ warn: (_, warning) => void warnings.push(warning) });
  SpanRegistry.register('shop', ['orders', 'cache']);
  await setUpForTest({ spanGroups: '-all' }, { requestOptIn });
  return warnings;
}

const isOnIn = (carrier: object): boolean =>
  context.with(extractContext(carrier), () => isSpanGroupEnabled('orders'));

describe('requestOptIn', () => {
  it('I1: turns groups on in the context that a message brings, for a while', async () => {
    await setUp({ key: KEY });
    const message = headers();
    expect([isOnIn(message), isOnIn({}), isOnIn(headers('cache'))]).toEqual([true, false, false]);
    expect([...processState.open].sort()).toEqual(['cache', 'orders']);
    expect(isOnIn(message)).toBe(true);
    expect(processState.requestOptIn!.counts.get('accepted')).toBe(2);
  });

  it('I1: sends the signed text on as baggage if it is told to, beside the rest of it', async () => {
    await setUp({ key: KEY, propagate: true });
    const outer = propagation.setBaggage(ROOT_CONTEXT, propagation.createBaggage({ tenant: { value: 'a' } }));
    const sent: Record<string, string> = {};
    context.with(outer, () => context.with(extractContext(headers()), () => injectContext(sent)));
    expect(sent['baggage']).toMatch(/^tenant=a,x-lens-groups=orders%3Bexp%3D/);
    expect(isOnIn(sent)).toBe(true);
  });

  it.each([true, false])('I1: with propagate %p nothing unsigned goes on', async (propagate) => {
    await setUp({ key: KEY, propagate });
    for (const text of ['orders', headers('orders', 'o'.repeat(32))['X-Lens-Groups']!, '%']) {
      const sent: Record<string, string> = {};
      const baggage = `tenant=a,x-lens-groups=${encodeURIComponent(text)}`;
      expect(isOnIn({ baggage })).toBe(false);
      context.with(extractContext({ baggage }), () => injectContext(sent));
      expect(sent).toEqual({ baggage: 'tenant=a' });
    }
  });

  it('I1: a verified text ends where propagate is off', async () => {
    await setUp({ key: KEY });
    const sent: Record<string, string> = {};
    const baggage = `x-lens-groups=${encodeURIComponent(headers()['X-Lens-Groups']!)}`;
    context.with(extractContext({ baggage }), () => injectContext(sent));
    expect([isOnIn({ baggage }), sent]).toEqual([true, {}]);
  });

  it('S1: a shutdown closes the gates and leaves the propagator as it was', async () => {
    const before = registeredApis().propagator;
    SpanRegistry.register('shop', ['orders']);
    const handle = await setupTelemetry(quietConfig({ spanGroups: '-all' }), { requestOptIn: { key: KEY } });
    extractContext(headers());
    expect([...processState.open]).toEqual(['orders']);
    await handle.shutdown();
    expect([processState.requestOptIn, [...processState.open], registeredApis().propagator]).toEqual([
      undefined,
      [],
      before,
    ]);
  });

  it('I1: means nothing to a pinned process', async () => {
    await setUp({ key: KEY });
    setEnabledSpanGroups([]);
    expect([isOnIn(headers()), processState.requestOptIn!.counts.size]).toEqual([false, 0]);
  });

  it('says at the start what is wrong with keys and with allow, and shows no key', async () => {
    const warnings = await setUp({ key: ['', 'short', KEY], keys: ['  '], allow: ['ordres', 'cache', '-x'] });
    expect(warnings.map(({ code, details }) => [code, details])).toEqual([
      ['REQUEST_OPT_IN_KEY', { option: 'requestOptIn.key[0]', bytes: 0 }],
      ['REQUEST_OPT_IN_KEY', { option: 'requestOptIn.key[1]', bytes: 5 }],
      ['REQUEST_OPT_IN_KEY', { option: 'requestOptIn.keys[0]', bytes: 0 }],
      [
        'REQUEST_OPT_IN_ALLOW',
        { pending: ['-x', 'ordres'], nearest: expect.objectContaining({ ordres: 'orders' }) },
      ],
    ]);
    expect(JSON.stringify(warnings)).not.toMatch(/short"|kkk/);
    expect(isOnIn(headers('orders', 'short'))).toBe(false);
    expect(context.with(extractContext(headers('cache', 'short')), () => isSpanGroupEnabled('cache'))).toBe(
      true,
    );
  });

  it('is off with an empty key, and with allow empty it says that nothing is allowed', async () => {
    expect((await setUp({ key: '' })).map(({ code }) => code)).toEqual(['REQUEST_OPT_IN_KEY']);
    expect(processState.requestOptIn).toBeUndefined();
    SpanRegistry.clear();
  });

  it.each<[unknown, RegExp]>([
    ['a secret', /requestOptIn must be an object with a key, not of type string/],
    [{ key: 4711 }, /requestOptIn.key must be a string or bytes, not of type number/],
    [{ keys: [{ secret: 'x' }] }, /requestOptIn.keys\[0\] must be a string or bytes/],
    [{ kee: 'secret' }, /an option must be key, keys, allow, propagate, not the string 'kee'/],
    [{ key: KEY, allow: 'orders' }, /allow must be an array of names/],
    [{ key: KEY, allow: [1] }, /allow must hold strings only/],
    [{ key: KEY, propagate: 'yes' }, /propagate must be true or false/],
  ])('refuses %j before anything is built', async (requestOptIn, message) => {
    const error = await setupTelemetry(quietConfig(), { requestOptIn: requestOptIn as never }).catch(
      (reason: unknown) => reason,
    );
    expect(error).toBeInstanceOf(TypeError);
    expect(String(error)).toMatch(message);
    expect(String(error)).not.toMatch(/4711|secret|kkk/);
    expect(processState.telemetry.phase).toBe('off');
  });
});
