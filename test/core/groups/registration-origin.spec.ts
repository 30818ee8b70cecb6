import { describe, expect, it } from 'vitest';
import {
  describeOrigin,
  differences,
  isFromSameFolder,
  originOf,
} from '../../../src/core/groups/registration-origin.js';

const calledAt = (frame: string, api = 'register') => ({
  api,
  stack: `Error\n    at ${frame}\n    at run (/x.js:9:9)`,
});

describe('where a registration comes from', () => {
  it.each([
    ['a function', 'register (/app/src/shop.ts:12:5)', '/app/src/shop.ts:12:5'],
    ['the top of a module', '/app/src/shop.ts:1:2', '/app/src/shop.ts:1:2'],
    ['the top of an ES module', 'async file:///app/src/shop.js:1:2', 'file:///app/src/shop.js:1:2'],
    ['a method of a class', 'new Shop (/app/my shop (1)/shop.js:3:4)', '/app/my shop (1)/shop.js:3:4'],
    [
      'a folder of Windows',
      String.raw`Object.<anonymous> (C:\app\shop.js:3:4)`,
      String.raw`C:\app\shop.js:3:4`,
    ],
  ])('R4: is told of a call in %s', (_what, frame, place) => {
    expect(describeOrigin(calledAt(frame))).toBe(`register at ${place}`);
  });

  it.each([
    ['there is no stack', { api: 'register' }],
    ['the stack has no frame', { api: 'register', stack: 'Error: at once' }],
    ['the frame names no line', calledAt('Array.forEach (<anonymous>)')],
  ])('R4: is the function alone if %s', (_why, origin) => {
    expect(describeOrigin(origin)).toBe('register');
  });

  it('R4: is the place where the caller was called, and unknown without a caller', () => {
    const register = () => originOf('register', register);
    expect(describeOrigin(register())).toMatch(/^register at .*registration-origin\.spec\.ts:\d+:\d+$/);
    expect(originOf('register')).toEqual({ api: 'register' });
  });
});

describe('two calls of one folder', () => {
  const at = (place: string, api?: string) => calledAt(`register (${place})`, api);

  it.each([
    ['one file at another line', at('/app/src/shop.ts:1:1'), at('/app/src/shop.ts:2:2'), true],
    ['files that a bundler named anew', at('/app/dist/a.1f.js:1:1'), at('/app/dist/a.2e.js:1:1'), true],
    ['files of Windows', at(String.raw`C:\app\a.js:1:1`), at(String.raw`C:\app\b.js:1:1`), true],
    ['files of two folders', at('/app/src/a.ts:1:1'), at('/app/lib/a.ts:1:1'), false],
    ['calls of two functions', at('/app/a.ts:1:1'), at('/app/a.ts:1:1', 'forRoot'), false],
    ['calls of which no place is known', { api: 'register' }, { api: 'register' }, false],
    ['calls of which one place is known', { api: 'register' }, at('/app/a.ts:1:1'), false],
  ])('N2: %s', (_what, one, other, isSame) => {
    expect([isFromSameFolder(one, other), isFromSameFolder(other, one)]).toEqual([isSame, isSame]);
  });
});

describe('the differences of two registrations', () => {
  const of = (groups: string[], presets: Record<string, string[]> = {}) => ({
    groups,
    presets,
    origin: { api: 'register' },
  });

  it('R4: are new groups, missing groups, and presets of other members, these in order', () => {
    const before = of(['cache', 'orders'], { quiet: ['cache'], gone: [], same: ['orders'] });
    const now = of(['cache', 'payment'], { same: ['orders'], quiet: ['payment'], added: [] });
    expect(differences(before, now)).toEqual([
      "group 'payment' is new",
      "group 'orders' is missing",
      "preset 'added' has other members",
      "preset 'gone' has other members",
      "preset 'quiet' has other members",
    ]);
    expect(differences(before, before)).toEqual([]);
  });
});
