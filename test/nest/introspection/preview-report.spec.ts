import { describe, expect, it } from 'vitest';
import { reportPreview } from '../../../src/nest/introspection/preview-report.js';

const report = (counts: [string, [unknown, number][]][], seconds: number) =>
  reportPreview({
    counts: new Map(counts.map(([group, sites]) => [group, new Map(sites as [string, number][])])),
    seconds,
    pending: [],
    sizeOf: () => 100,
  });

describe('reportPreview', () => {
  it('is hurt by no name of a span', () => {
    const names = ['<img onerror>\n\u202e', 'x'.repeat(10_000), Symbol('a'), 7, null, Object.create(null)];
    const { groups } = report([['cache', names.map((name) => [name, 1])]], 1);

    expect(groups[0]!.sites.map(({ name }) => name)).toEqual([
      '7',
      '<img onerror>\\n\\u202e',
      'a symbol',
      'an object',
      'null',
      `${'x'.repeat(300)}… (10000 characters)`,
    ]);
  });

  it('puts the busiest first, and of equals the first of the alphabet', () => {
    const { groups } = report(
      [
        ['zoo', [['z', 1]]],
        ['none', []],
        ['air', [['a', 1]]],
        ['busy', [['b', 2], ['c', 3]]], // prettier-ignore
      ],
      1,
    );

    expect(groups.map(({ name }) => name)).toEqual(['busy', 'air', 'zoo', 'none']);
    expect(groups[0]!.sites.map(({ name }) => name)).toEqual(['c', 'b']);
  });

  it('gives rates that go with the time that it shows, and none where there was no time', () => {
    expect(report([['db_query', [['find', 1_234]]]], 7.12345)).toMatchObject({
      seconds: 7.123,
      spans: 1_234,
      perSecond: 173.24,
      bytesPerSecond: 17_324,
    });
    expect(report([['db_query', []]], 0)).toMatchObject({ seconds: 0, perSecond: 0, bytesPerSecond: 0 });
  });
});
