import { describe, expect, it } from 'vitest';
import fc from 'fast-check';
import { signSpanGroups } from 'nest-lens/core';
import { secretKey, verifyText } from '../../../src/core/opt-in/signed-groups.js';

const KEY = 'a key that nobody may ever read in a log';
const sign = signSpanGroups as (...given: any[]) => string;
const verify = (text: string, now = Date.now()) => verifyText(text, [secretKey(KEY)], now);

describe('signSpanGroups', () => {
  it('I1: signs a spec without its blanks, for a quarter of an hour or as long as it is told', () => {
    expect(sign(' Orders , db_*, - cache', { key: KEY })).toMatch(
      /^orders,db_\*,-cache;exp=\d{13};sig=[\w-]{43}$/,
    );
    const ends = (options: object): number => {
      const found = verify(sign('orders', { key: KEY, ...options }));
      return typeof found === 'string' ? 0 : found.expiresAt - Date.now();
    };
    expect(ends({})).toBeGreaterThan(890_000);
    expect(ends({})).toBeLessThanOrEqual(900_001);
    expect(ends({ ttlMs: 86_400_000 })).toBeGreaterThan(86_390_000);
  });

  it('I1: makes a header, and only a header, of every spec', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 60 }), (spec) => {
        const text = sign(`a,${spec}`, { key: KEY });
        expect(text).toMatch(/^[\x21-\x7e]+$/);
        expect(verify(text)).toMatchObject({ expiresAt: expect.any(Number) });
      }),
      { numRuns: 200 },
    );
  });

  it('I1: whatever is changed in it, it is no more signed', () => {
    const text = sign('orders,db_*', { key: KEY });
    fc.assert(
      fc.property(fc.nat(text.length - 1), fc.string({ maxLength: 3 }), (at, other) => {
        const changed = text.slice(0, at) + other + text.slice(at + 1);
        fc.pre(changed !== text);
        expect(typeof verify(changed)).toBe('string');
      }),
    );
  });

  it('I1: the last character of a signature counts, too, though it has bits that say nothing', () => {
    const text = sign('orders', { key: KEY });
    const others = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'];
    const fitting = others.filter((last) => typeof verify(text.slice(0, -1) + last) !== 'string');
    expect(fitting).toEqual([text.at(-1)]);
  });

  it('says what is wrong with its arguments, and never what the key is', () => {
    const wrong: [unknown[], RegExp][] = [
      [[undefined, { key: KEY }], /must be a string such as/],
      [['', { key: KEY }], /names nothing/],
      [['-orders', { key: KEY }], /names nothing/],
      [['a'.repeat(3_000), { key: KEY }], /header of \d+ characters; at most 2048 are allowed/],
      [['orders'], /options must be an object with a key/],
      [['orders', { key: '' }], /key must be a non-empty string, or bytes/],
      [['orders', { key: 4711 }], /key must be a non-empty string, or bytes/],
      [['orders', KEY], /options must be an object with a key/],
      [['orders', { key: KEY, ttl: 5 }], /must be key or ttlMs/],
      ...[0, -1, NaN, '60', 86_400_001, Infinity].map((ttlMs): [unknown[], RegExp] => [
        ['orders', { key: KEY, ttlMs }],
        /ttlMs must be a number of milliseconds above 0/,
      ]),
    ];
    for (const [given, message] of wrong) {
      expect(() => sign(...given)).toThrow(message);
      try {
        sign(...given);
      } catch (error) {
        expect(`${String(error)} ${(error as Error).stack}`).not.toMatch(/may ever|4711/);
      }
    }
  });
});
