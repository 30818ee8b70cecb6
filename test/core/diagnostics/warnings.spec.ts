import { describe, expect, it, vi } from 'vitest';
import { type LensWarning, setLensLogger, setSpanGroupSpec, SpanRegistry } from 'nest-lens/core';
import { captureWarnings } from '../../support/capture-warnings.js';
import { setUpForTest } from '../../support/live-telemetry.js';

/** One registration that gives a reason for every warning that a registration can cause. */
function registerWithEveryFault(): void {
  SpanRegistry.register('newcomer', ['shared', 'my-group', 'shadow'], {
    shadow: ['shared'],
    default: ['ghost'],
  });
}

async function prepareEveryFault(): Promise<void> {
  captureWarnings();
  SpanRegistry.register('first_lib', ['shared']);
  await setUpForTest({ spanGroups: 'shared,tpyo,my-group' });
}

const EVERY_FAULT = [
  'GROUP_COLLISION',
  'PRESET_MEMBER_UNREGISTERED',
  'NAME_STYLE',
  'PRESET_SHADOWS_GROUP',
  'LATE_REGISTRATION',
  'SPEC_UNRESOLVED',
];

describe('the order of warnings', () => {
  it('R19: collisions, unowned members, name style, shadowing, late, then re-resolution', async () => {
    await prepareEveryFault();
    const warnings = captureWarnings();
    registerWithEveryFault();
    expect(warnings.take()).toEqual(EVERY_FAULT);
  });

  it('R19: a logger is called after the commit', () => {
    captureWarnings();
    SpanRegistry.register('first_lib', ['shared']);
    setSpanGroupSpec('default');
    const seen: string[][] = [];
    setLensLogger({
      warn: () => seen.push([...SpanRegistry.namespaces(), ...SpanRegistry.resolve('default').enabled]),
    });
    SpanRegistry.register('newcomer', ['shared'], { default: ['shared'] });
    expect(seen).toEqual([['first_lib', 'newcomer', 'shared']]);
  });
});

describe('a logger that misbehaves', () => {
  it('R19: one that throws loses no registration and no warning', async () => {
    await prepareEveryFault();
    const codes: string[] = [];
    setLensLogger({
      warn(_message, { code }) {
        codes.push(code);
        throw new Error('the logger is broken');
      },
    });
    registerWithEveryFault();
    expect(codes).toEqual(EVERY_FAULT);
    expect(SpanRegistry.namespaces()).toEqual(['first_lib', 'newcomer']);
    expect([...SpanRegistry.resolve('shared,my-group').enabled].sort()).toEqual(['my-group', 'shared']);
    expect(() => SpanRegistry.unregister('newcomer')).not.toThrow();
    expect(() => setSpanGroupSpec('oops')).not.toThrow();
    expect(codes.at(-1)).toBe('SPEC_UNRESOLVED');
  });

  it('R19: one that registers corrupts nothing: both registrations stand, every warning is logged', async () => {
    await prepareEveryFault();
    const codes: string[] = [];
    let nested = false;
    setLensLogger({
      warn(_message, { code, details }) {
        codes.push(`${(details as { namespace?: string }).namespace ?? ''} ${code}`);
        if (nested) return;
        nested = true;
        SpanRegistry.register('from_logger', ['shared', 'ghost', 'tpyo']);
      },
    });

    registerWithEveryFault();

    expect(SpanRegistry.namespaces()).toEqual(['first_lib', 'from_logger', 'newcomer']);
    const { enabled, pending } = SpanRegistry.resolve('default,tpyo');
    expect([[...enabled].sort(), [...pending]]).toEqual([['ghost', 'tpyo'], []]);
    expect(codes.filter((code) => code.startsWith('newcomer'))).toEqual(
      EVERY_FAULT.slice(0, -1).map((code) => `newcomer ${code}`),
    );
    expect(codes.filter((code) => code.startsWith('from_logger'))).toEqual([
      'from_logger GROUP_COLLISION',
      'from_logger GROUP_COLLISION',
      'from_logger LATE_REGISTRATION',
    ]);
  });

  it('R19: one that registers again at every warning comes to an end', () => {
    SpanRegistry.register('first_lib', ['shared']);
    let calls = 0;
    setLensLogger({
      warn() {
        calls++;
        if (calls < 1_000) SpanRegistry.register(`again_${calls}`, ['shared']);
      },
    });
    expect(() => SpanRegistry.register('newcomer', ['shared'])).not.toThrow();
    expect(SpanRegistry.namespaces()).toContain('newcomer');
    expect([...SpanRegistry.groups()]).toEqual(['shared']);
  });

  it('R19: one that warns again at every warning, without an end, comes to an end', () => {
    let calls = 0;
    setLensLogger({
      warn() {
        // Without a bound it would go on until the stack is full.
        if (++calls < 1_000) setSpanGroupSpec(`nothing_${calls}`);
      },
    });
    expect(() => setSpanGroupSpec('nothing')).not.toThrow();
    expect(calls).toBeGreaterThan(0);
    expect(calls).toBeLessThan(10);
    calls = 0;
    setSpanGroupSpec('nothing');
    expect(calls).toBeGreaterThan(0);
  });

  it('R19: an async one that rejects causes no unhandled rejection', async () => {
    const rejections: unknown[] = [];
    const onRejection = (reason: unknown): void => void rejections.push(reason);
    process.on('unhandledRejection', onRejection);
    setLensLogger({ warn: () => Promise.reject(new Error('the log is full')) as unknown as void });
    setSpanGroupSpec('default');
    await new Promise((resolve) => setImmediate(resolve));
    await new Promise((resolve) => setTimeout(resolve, 1));
    process.off('unhandledRejection', onRejection);
    expect(rejections).toEqual([]);
  });

  it.each([
    ['undefined', undefined],
    ['null', null],
    [
      'a thenable that throws',
      {
        then: () => {
          throw new Error('no');
        },
      },
    ],
  ])('R19: whatever it returns is ignored (%s)', async (_kind, value) => {
    const warn = vi.fn(() => value as unknown as void);
    setLensLogger({ warn });
    setSpanGroupSpec('default');
    await new Promise((resolve) => setImmediate(resolve));
    expect(warn).toHaveBeenCalledTimes(1);
  });
});

describe('where warnings go', () => {
  it('W2: to the console, as a warning, while no logger is set', () => {
    const warn = vi.spyOn(console, 'warn').mockImplementation(() => undefined);
    setSpanGroupSpec('default');
    expect(warn).toHaveBeenCalledTimes(1);
    expect(String(warn.mock.calls[0]![0])).toMatch(/NestLens.*'default'/);
    warn.mockRestore();
  });

  it('W2: to the logger that was set last, and not to the console', () => {
    const warn = vi.spyOn(console, 'warn').mockImplementation(() => undefined);
    const first = captureWarnings();
    const second = captureWarnings();
    setSpanGroupSpec('default');
    expect([first.codes(), second.codes(), warn.mock.calls.length]).toEqual([[], ['NOTHING_REGISTERED'], 0]);
    warn.mockRestore();
  });

  it('W3: a warning carries its code, its text and the facts in it', () => {
    const warnings = captureWarnings();
    SpanRegistry.register('shop', ['orders']);
    setSpanGroupSpec('oders');
    const warning: LensWarning = warnings.single('SPEC_UNRESOLVED');
    expect(warning.details).toMatchObject({
      spec: 'oders',
      pending: ['oders'],
      groups: ['orders'],
      presets: ['all'],
      namespaces: ['shop'],
    });
  });
});

describe('the text of each warning says what is wrong, the choices, and what to do next', () => {
  function messageOf(code: string, cause: () => void): string {
    const warnings = captureWarnings();
    cause();
    return warnings.single(code).message;
  }

  it('R6: GROUP_COLLISION', () => {
    SpanRegistry.register('first_lib', ['orders', 'cache']);
    const message = messageOf('GROUP_COLLISION', () =>
      SpanRegistry.register('newcomer', ['orders', 'cache']),
    );
    expect(message).toMatch(/'newcomer'/);
    expect(message).toMatch(/'first_lib'/);
    expect(message).toMatch(/cache, orders/);
    expect(message).toMatch(/allowOverride: true/);
  });

  it('R10: PRESET_MEMBER_UNREGISTERED', () => {
    const message = messageOf('PRESET_MEMBER_UNREGISTERED', () =>
      SpanRegistry.register('rl', ['rollout'], { default: ['step', 'rollout', 'ghost'] }),
    );
    expect(message).toMatch(/'default'/);
    expect(message).toMatch(/'rl'/);
    expect(message).toMatch(/ghost, step/);
    expect(message).not.toMatch(/rollout/);
    expect(message).toMatch(/spelling/);
  });

  it('R23: NAME_STYLE', () => {
    const message = messageOf('NAME_STYLE', () => SpanRegistry.register('shop', ['my-group', 'a b', 'fine']));
    expect(message).toMatch(/'shop'/);
    expect(message).toMatch(/a b, my-group/);
    expect(message).not.toMatch(/fine/);
    expect(message).toMatch(/snake_case/);
  });

  it('R21: PRESET_SHADOWS_GROUP', () => {
    const message = messageOf('PRESET_SHADOWS_GROUP', () =>
      SpanRegistry.register('shop', ['orders'], { orders: ['orders'] }),
    );
    expect(message).toMatch(/'orders'/);
    expect(message).toMatch(/'shop'/);
    expect(message).toMatch(/preset/);
    expect(message).toMatch(/[Rr]ename/);
  });

  it('W2: NOTHING_REGISTERED', () => {
    const message = messageOf('NOTHING_REGISTERED', () => setSpanGroupSpec('all'));
    expect(message).toMatch(/'all'/);
    expect(message).toMatch(/import|register/);
  });

  it('W3: SPEC_UNRESOLVED', () => {
    SpanRegistry.register('shop', ['orders'], { per_request: ['orders'] });
    const message = messageOf('SPEC_UNRESOLVED', () => setSpanGroupSpec('per_requset,-odrers'));
    expect(message).toMatch(/'per_requset,-odrers'/);
    expect(message).toMatch(/Did you mean 'per_request' for 'per_requset'/);
    expect(message).toMatch(/Did you mean '-?orders' for '-?odrers'/);
    expect(message).toMatch(/another process/);
  });

  it('W4: SPEC_SELECTED_NOTHING', () => {
    SpanRegistry.register('shop', ['orders']);
    const message = messageOf('SPEC_SELECTED_NOTHING', () => setSpanGroupSpec('orders,-orders'));
    expect(message).toMatch(/'orders,-orders'/);
    expect(message).toMatch(/Registered groups: \[orders\]/);
  });

  it('W5: LATE_REGISTRATION', async () => {
    await setUpForTest({ spanGroups: '' });
    const message = messageOf('LATE_REGISTRATION', () => SpanRegistry.register('late_lib', ['orders']));
    expect(message).toMatch(/'late_lib'/);
    expect(message).toMatch(/onModuleInit|before/);
  });

  it('W3: a registry of thousands of groups makes no message of thousands of names', () => {
    SpanRegistry.register(
      'huge',
      Array.from({ length: 5_000 }, (_, index) => `group_${index}`),
    );
    const message = messageOf('SPEC_UNRESOLVED', () => setSpanGroupSpec('tpyo'));
    expect(message.length).toBeLessThan(5_000);
    expect(message).toMatch(/4950 more/);
  });
});
