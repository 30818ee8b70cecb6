import { describe, expect, it, vi } from 'vitest';
import { SpanRegistry } from 'nest-lens';
import { aroundSnippets, importAnew, setUp } from './running-snippets.js';

describe('docs/warnings-and-errors.md', () => {
  aroundSnippets();

  it('W3: the logger as shown gets them', async () => {
    const printed = vi.spyOn(console, 'log').mockImplementation(() => undefined);
    await importAnew('lens-logger');
    SpanRegistry.register('shop', ['orders']);
    await setUp('ordres');

    expect(printed.mock.calls.map(([line]) => JSON.parse(String(line)) as object)).toEqual([
      { level: 'warn', code: 'SPEC_UNRESOLVED', message: expect.stringContaining("'orders'") },
    ]);
  });
});
