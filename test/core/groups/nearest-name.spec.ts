import { describe, expect, it } from 'vitest';
import fc from 'fast-check';
import { nearestName, nearestNames } from '../../../src/core/groups/nearest-name.js';

/** Optimal string alignment distance, as it is defined. A distance is remembered by the lengths of the prefixes it is of. */
function distance(a: string, b: string, known = new Map<string, number>()): number {
  if (a === '' || b === '') return a.length + b.length;
  const key = `${a.length},${b.length}`;
  const before = known.get(key);
  if (before !== undefined) return before;
  const [restA, restB] = [a.slice(0, -1), b.slice(0, -1)];
  const ways = [
    distance(restA, b, known) + 1,
    distance(a, restB, known) + 1,
    distance(restA, restB, known) + (a.at(-1) === b.at(-1) ? 0 : 1),
  ];
  if (a.length > 1 && b.length > 1 && a.at(-1) === b.at(-2) && a.at(-2) === b.at(-1)) {
    ways.push(distance(a.slice(0, -2), b.slice(0, -2), known) + 1);
  }
  const shortest = Math.min(...ways);
  known.set(key, shortest);
  return shortest;
}

const MOST_EDITS = (name: string): number => Math.min(2, Math.floor((name.length - 1) / 2));

function nearestByDefinition(name: string, candidates: readonly string[]): string | undefined {
  const near = candidates
    .map((candidate) => ({ candidate, far: distance(name, candidate) }))
    .filter(({ far }) => far <= MOST_EDITS(name))
    .sort((a, b) => a.far - b.far);
  return near[0]?.candidate;
}

/** All of those, by the number of their edits, then those of which one contains the other; each kind in alphabetical order. */
function allNearByDefinition(name: string, candidates: readonly string[]): string[] {
  const inOrder = [...candidates].sort();
  const far = new Map(inOrder.map((candidate) => [candidate, distance(name, candidate)]));
  const withEdits = (edits: number): string[] =>
    edits > MOST_EDITS(name) ? [] : inOrder.filter((candidate) => far.get(candidate) === edits);
  const isPart = (part: string, whole: string): boolean => part.length >= 3 && whole.includes(part);
  const parts = inOrder.filter((candidate) => isPart(name, candidate) || isPart(candidate, name));
  return [...new Set([...withEdits(1), ...withEdits(2), ...parts])];
}

const word = fc.string({ unit: fc.constantFrom('a', 'b', '_'), minLength: 1, maxLength: 6 });
/** A change of a word at a place: a letter put in, left out or put in the place of another, or two letters swapped. */
const edit = fc.tuple(fc.nat(6), fc.constantFrom('a', 'x', ''), fc.constantFrom(0, 1, 2)).map(
  ([at, letter, replaced]) =>
    (name: string): string =>
      replaced === 2
        ? name.slice(0, at) +
          name
            .slice(at, at + 2)
            .split('')
            .reverse()
            .join('') +
          name.slice(at + 2)
        : name.slice(0, at) + letter + name.slice(at + replaced),
);
/** Many of the others are near the first, or as near as another one. */
const wordAndOthers = fc
  .tuple(word, fc.array(fc.oneof(word, fc.array(edit, { maxLength: 3 })), { maxLength: 6 }))
  .map(([name, others]) => {
    const words = others.map((other) =>
      typeof other === 'string' ? other : other.reduce((near, change) => change(near), name),
    );
    return [name, words.filter((candidate) => candidate !== name && candidate !== '')] as const;
  });

describe('the nearest name', () => {
  it('W3: is the first of those with the fewest edits, at most two and fewer than half of the letters', () => {
    fc.assert(
      fc.property(wordAndOthers, ([name, candidates]) => {
        expect(nearestName(name, candidates)).toBe(nearestByDefinition(name, candidates));
      }),
      { numRuns: 2_000 },
    );
  });

  it('W3: finds a swap, a missing, a doubled and a wrong letter, and no more', () => {
    const names = ['per_request', 'payment', 'db'];
    expect(
      ['per_requset', 'paymnt', 'paymentt', 'poyment', 'pyment_x', 'dc', ''].map((name) =>
        nearestName(name, names),
      ),
    ).toEqual(['per_request', 'payment', 'payment', 'payment', undefined, undefined, undefined]);
  });

  it('W3: is the first of two that are as near', () => {
    expect(nearestName('payment', ['paymen', 'payments', 'paymentxx'])).toBe('paymen');
    expect(nearestName('payment', ['paym', 'paymenxx', 'paymentxx'])).toBe('paymenxx');
  });
});

describe('the nearest names', () => {
  it('N7: are those within the same edits, nearest first, then those that contain the name or are in it', () => {
    fc.assert(
      fc.property(wordAndOthers, fc.nat(6), ([name, words], most) => {
        const candidates = [...new Set(words)];
        expect(nearestNames(name, candidates, most)).toEqual(
          allNearByDefinition(name, candidates).slice(0, most),
        );
      }),
      { numRuns: 1_000 },
    );
  });

  it('N7: are in alphabetical order where they are as near, and contain no part of under three letters', () => {
    const names = ['payments', 'repayment', 'pay', 'pa', 'payment_x', 'paymant', 'paymint'];
    expect(nearestNames('payment', names, 9)).toEqual([
      'paymant',
      'payments',
      'paymint',
      'payment_x',
      'repayment',
      'pay',
    ]);
    expect(nearestNames('pa', names, 9)).toEqual([]);
  });
});
