import { describe, expect, it, jest } from '@jest/globals';
import { aroundSnippets, codes, importAnew, setEnv } from './running-snippets.js';
import { names, type PlainSpan } from './span-tree.js';

describe('docs/set-up-and-shutdown.md', () => {
  aroundSnippets();

  it('H1, H2: the work runs in a span when telemetry is enabled, and without one when it is not', async () => {
    const printed = jest.spyOn(console, 'log').mockImplementation(() => undefined);
    const { run } = await importAnew('without-nest');
    const work = jest.fn(async () => undefined);
    setEnv({ NEST_LENS_EXPORTER: 'console' });
    await run(work);
    expect(printed.mock.calls).toEqual([]);

    setEnv({ NEST_LENS_ENABLED: 'true' });
    await run(work);
    expect(names(printed.mock.calls.map(([line]) => JSON.parse(String(line)) as PlainSpan))).toEqual([
      'job.run',
    ]);
    expect(work).toHaveBeenCalledTimes(2);
    expect(codes()).toEqual([]);
  });
});
