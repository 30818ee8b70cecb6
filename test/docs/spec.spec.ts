import { beforeEach, describe, expect, it } from 'vitest';
import { SpanRegistry } from 'nest-lens';
import { quoted, readPage } from './documentation.js';

describe('docs/spec.md', () => {
  beforeEach(() => {
    SpanRegistry.register('shop', ['orders', 'stock'], {
      default: ['orders'],
      per_request: ['orders', 'stock'],
    });
    SpanRegistry.register('db', ['db_query', 'db_transaction'], { per_request: ['db_transaction'] });
  });

  const rows = readPage('docs/spec.md').table('Spec', 'On', 'Pending');

  it.each(rows)('S1, S3, S5, S6: %s turns on what the table says', (spec, on, pending) => {
    const { enabled, pending: unknown } = SpanRegistry.resolve(quoted(spec)[0]!);
    expect([...enabled].sort()).toEqual(quoted(on));
    expect([...unknown].sort()).toEqual(quoted(pending));
  });
});
