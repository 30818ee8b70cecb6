import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Controller, Get, Logger } from '@nestjs/common';
import { SpanGroup } from 'nest-lens';
import { LoggerModule, PinoLogger } from 'nestjs-pino';
import { LogsModule } from './pino.js';
import { run } from './running.js';
import { traceIds } from './trace-ids.js';
import { TracedLogger } from './traced-logger.js';

/** The lines of JSON that are written to standard output meanwhile; the test runner writes there, too. */
async function written(work: () => Promise<unknown>): Promise<Record<string, unknown>[]> {
  const { write } = process.stdout;
  let text = '';
  process.stdout.write = ((chunk: string | Uint8Array, ...rest: []) => {
    if (typeof chunk !== 'string' || !chunk.startsWith('{'))
      return write.call(process.stdout, chunk, ...rest);
    text += chunk;
    return true;
  }) as typeof write;
  try {
    await work();
  } finally {
    process.stdout.write = write;
  }
  const lines = text.trim().split('\n');
  return lines.map((line) => JSON.parse(line) as Record<string, unknown>);
}

test('the ids are those of the span, and there are none outside of one', async () => {
  @Controller()
  class OrdersController {
    private readonly logger = new Logger('orders');

    @Get()
    @SpanGroup('orders')
    list() {
      this.logger.log('listed');
      return [];
    }
  }
  const { app, captured, url } = await run(['orders'], { controllers: [OrdersController] });
  app.useLogger(new TracedLogger({ json: true, colors: false }));
  const lines = await written(() => fetch(url));
  const line = lines.find(({ message }) => message === 'listed');
  const [span] = captured.spans();
  assert.equal(line?.['trace_id'], span?.spanContext().traceId);
  assert.equal(line?.['span_id'], span?.spanContext().spanId);
  assert.deepEqual(traceIds(), {});
  app.useLogger(false);
  await app.close();
});

test('pino calls the mixin for each line', async () => {
  const lines: Record<string, unknown>[] = [];
  const stream = { write: (line: string) => void lines.push(JSON.parse(line) as Record<string, unknown>) };
  @Controller()
  class OrdersController {
    constructor(private readonly logger: PinoLogger) {}

    @Get()
    @SpanGroup('orders')
    list() {
      this.logger.info('listed');
      return [];
    }
  }
  const { app, captured, url } = await run(['orders'], {
    imports: [LoggerModule.forRoot({ pinoHttp: [{ mixin: traceIds }, stream] })],
    controllers: [OrdersController],
  });
  await fetch(url);
  await app.close();
  const [span] = captured.spans();
  assert.equal(lines.find(({ msg }) => msg === 'listed')?.['trace_id'], span?.spanContext().traceId);
});

test('the module of the recipe starts', async () => {
  const { app } = await run([], { imports: [LogsModule] });
  await app.close();
});
