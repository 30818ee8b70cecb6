import { describe, expect, it } from 'vitest';
import fc from 'fast-check';
import { nearestName } from '../../../src/core/groups/nearest-name.js';

/** Optimal string alignment distance, as it is defined. */
function distance(a: string, b: string): number {
  if (a === '' || b === '') return a.length + b.length;
  const [restA, restB] = [a.slice(0, -1), b.slice(0, -1)];
  const ways = [
    distance(restA, b) + 1,
    distance(a, restB) + 1,
    distance(restA, restB) + (a.at(-1) === b.at(-1) ? 0 : 1),
  ];
  if (a.length > 1 && b.length > 1 && a.at(-1) === b.at(-2) && a.at(-2) === b.at(-1)) {
    ways.push(distance(a.slice(0, -2), b.slice(0, -2)) + 1);
  }
  return Math.min(...ways);
}

function nearestByDefinition(name: string, candidates: readonly string[]): string | undefined {
  const limit = Math.min(2, Math.floor((name.length - 1) / 2));
  const near = candidates
    .map((candidate) => ({ candidate, far: distance(name, candidate) }))
    .filter(({ far }) => far <= limit)
    .sort((a, b) => a.far - b.far);
  return near[0]?.candidate;
}

describe('the nearest name', () => {
  it('W3: is the first of those with the fewest edits, at most two and fewer than half of the letters', () => {
    const word = fc.string({ unit: fc.constantFrom('a', 'b', '_'), minLength: 1, maxLength: 6 });
    fc.assert(
      fc.property(word, fc.array(word, { maxLength: 6 }), (name, words) => {
        const candidates = words.filter((candidate) => candidate !== name);
        expect(nearestName(name, candidates)).toBe(nearestByDefinition(name, candidates));
      }),
      { numRuns: 5_000 },
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
});
