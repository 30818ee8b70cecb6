import { expect, it, vi } from 'vitest';
import { type CallHandler, type CanActivate, type ExecutionContext } from '@nestjs/common';
import { map, tap } from 'rxjs';
import { processState } from '../../../src/core/state/process-state.js';
import { onEachPlatform } from '../../support/adapters.js';
import { listenToEvents } from '../../support/event-stream.js';
import { type LensApp, lensApp } from '../../support/lens-app.js';

vi.setConfig({ testTimeout: 30_000 });

class EverybodyGuard implements CanActivate {
  canActivate(): boolean {
    return true;
  }
}

const seen: unknown[] = [];
/** As many applications have it: every answer in an envelope. */
const envelope = {
  intercept: (_context: ExecutionContext, next: CallHandler) =>
    next.handle().pipe(
      tap((result: unknown) => seen.push(result)),
      map((data: unknown) => ({ data })),
    ),
};

onEachPlatform('Under a global interceptor that wraps every answer', (platform) => {
  const start = (): Promise<LensApp> =>
    lensApp(platform)
      .groups('orders')
      .forRoot({
        introspection: { guards: [EverybodyGuard], runtimeControl: true, page: true, recentTraces: 5 },
      })
      .configure((app) => {
        app.useGlobalInterceptors(envelope);
        app.enableCors({ origin: 'https://ops.example' });
      })
      .start();

  it('N7: every document of the endpoint is as it is without', async () => {
    const lens = await start();
    seen.length = 0;
    const answers = [
      await lens.get('/lens/groups'),
      await lens.get('/lens/groups/orders'),
      await lens.get('/lens/traces'),
      await lens.request('PUT', '/lens/groups', { body: { spec: 'orders' } }),
      await lens.request('DELETE', '/lens/groups'),
      await lens.post('/lens/groups/preview', { seconds: 0.01, groups: ['orders'] }),
    ];
    expect(answers.map((answer) => [answer.status, Object.keys(answer.json())[0]])).toEqual([
      [200, 'telemetry'],
      [200, 'name'],
      [200, 'traces'],
      [200, 'telemetry'],
      [200, 'telemetry'],
      [200, 'seconds'],
    ]);
    for (const { headers } of answers) {
      expect(headers['cache-control']).toContain('no-store');
      expect(headers['access-control-allow-origin']).toBe('https://ops.example');
    }
    // The interceptor is asked all the same.
    expect(seen).toHaveLength(answers.length);
  });

  it('H12: so are the events of a preview, with the headers that the application sets', async () => {
    const lens = await start();
    const stream = await listenToEvents(lens.url('/lens/groups/preview'), { seconds: 0.05, spec: 'all' }, {});
    expect(stream.headers).toMatchObject({
      'content-type': 'text/event-stream',
      'cache-control': 'no-cache, no-store, no-transform',
      'access-control-allow-origin': 'https://ops.example',
    });
    await stream.ended;
    expect(stream.events().at(-1)).toMatchObject({ event: 'done', data: { spans: 0 } });
    expect(processState.preview).toBeUndefined();
  });
});
