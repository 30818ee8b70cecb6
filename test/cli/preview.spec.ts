// `nest-lens preview` against a real application under load.
import { describe, expect, it, vi } from 'vitest';
import { type CanActivate, Controller, Get, Injectable } from '@nestjs/common';
import { managedSpan, SpanGroup } from 'nest-lens';
import { processState } from '../../src/core/state/process-state.js';
import { guardEachTest, type LensApp, lensApp, until } from '../support/lens-app.js';
import { express } from '../support/adapters.js';
import { runCommand, RunningCommand, runInProcess } from '../support/run-command.js';

vi.setConfig({ testTimeout: 60_000 });

@Injectable()
class Everybody implements CanActivate {
  canActivate(): boolean {
    return true;
  }
}

@Controller('orders')
class OrdersController {
  @Get()
  @SpanGroup('orders')
  list(): string {
    managedSpan('db_query', 'query', () => undefined);
    managedSpan('db_query', 'query', () => undefined);
    return 'list';
  }
}

describe('npx nest-lens preview', () => {
  guardEachTest();

  const start = (): Promise<LensApp> =>
    lensApp(express)
      .controllers(OrdersController)
      .groups('orders', 'db_query')
      .forRoot({ introspection: { guards: [Everybody], runtimeControl: true } })
      .spec('-all')
      .start();
  /** Three requests while it counts. */
  async function load(lens: LensApp): Promise<void> {
    expect(await until(() => processState.preview !== undefined, 20_000)).toBe(true);
    for (let request = 0; request < 3; request++) await lens.get('/orders');
  }

  it('counts what groups would make, the busiest first, and turns nothing on', async () => {
    const lens = await start();
    const url = lens.url('');
    const [found] = await Promise.all([runCommand(['preview', '--seconds', '2', '--url', url]), load(lens)]);
    expect([found.code, found.err]).toEqual([0, '']);
    expect(found.out).toMatch(
      /^GROUP +SPANS +PER SECOND +BUSIEST SITES\ndb_query +6 +3 +query 6\norders +3 +1\.5 +/,
    );
    expect(found.out).toMatch(/^In 2 s: 9 spans, 4\.5 per second; about \d+ bytes per second to export\.$/m);
    expect(await lens.spans()).toEqual([]);
  });

  it('counts what it is told to, shows on a terminal how far it is, and ends with 2 where something is pending', async () => {
    const lens = await start();
    const args = ['preview', 'db_*', 'nobody', '--seconds', '1500ms', '--url', lens.url('')];
    const [found] = await Promise.all([runInProcess(args, { NO_COLOR: '1' }, true), load(lens)]);
    expect(found.code).toBe(2);
    expect(found.out).toMatch(/\ndb_query +6 +4 +query 6\n/);
    expect(found.out).toMatch(/Pending, .*: nobody/);
    expect(found.err).toMatch(/1 of 1\.5 s: 6 spans/);
  });

  it('says that another one is under way, and ends the one whose command is ended', async () => {
    const lens = await start();
    const first = new RunningCommand(['preview', '--seconds', '60', '--url', lens.url('')]);
    expect(await until(() => processState.preview !== undefined, 20_000)).toBe(true);
    const second = await runInProcess(['preview', '--json', '--url', lens.url('')]);
    expect([second.code, second.out]).toEqual([1, '']);
    expect(second.err).toMatch(/^nest-lens: \S+ answers 409: .*preview[^\n]*\n$/);
    first.child.kill('SIGINT');
    expect(await until(() => processState.preview === undefined, 20_000)).toBe(true);
    await first.outcome;
  });
});
