import { describe, expect, it, vi } from 'vitest';
import 'reflect-metadata';
import { NestFactory } from '@nestjs/core';
import { KeepingExporter } from '../support/keeping-exporter.js';
import { interceptPrintedSpans } from '../support/printed-spans.js';
import { aroundSnippets, codes, importAnew, setEnv } from './running-snippets.js';
import { names, type PlainSpan } from './span-tree.js';

describe('docs/set-up-and-shutdown.md', () => {
  aroundSnippets();

  it('H1, H2: the work runs in a span when telemetry is enabled, and without one when it is not', async () => {
    const printed = interceptPrintedSpans();
    const { run } = await importAnew('without-nest');
    const work = vi.fn(async () => undefined);
    setEnv({ NEST_LENS_EXPORTER: 'console' });
    await run(work);
    expect(printed.lines()).toEqual([]);

    setEnv({ NEST_LENS_ENABLED: 'true' });
    await run(work);
    expect(names(printed.lines().map((line) => JSON.parse(line) as PlainSpan))).toEqual(['job.run']);
    printed.restore();
    expect(work).toHaveBeenCalledTimes(2);
    expect(codes()).toEqual([]);
  });

  it('H8: what an invocation has made is exported when it is answered', async () => {
    setEnv({ NEST_LENS_ENABLED: 'true', NEST_LENS_SPAN_GROUPS: 'all', OTEL_BSP_SCHEDULE_DELAY: '60000' });
    const { NestLensModule, managedSpan } = await import('nest-lens');
    const { flushing } = await importAnew('flush-after-invocation');
    const spanExporter = new KeepingExporter();
    const lens = NestLensModule.forRoot({
      registrations: [{ namespace: 'jobs', groups: ['job'] }],
      config: { metricsEnabled: false },
      telemetry: { spanExporter },
    });
    const app = await NestFactory.createApplicationContext(
      { module: Root, imports: [lens] },
      { logger: false },
    );
    const handle = flushing(app, (event: string) => managedSpan('job', event, () => Promise.resolve(event)));
    expect(await handle('first')).toBe('first');
    expect(spanExporter.names).toEqual(['first']);
    await expect(flushing(app, () => Promise.reject(new Error('no')))('second')).rejects.toThrow('no');
    await app.close();
  });
});

class Root {}
