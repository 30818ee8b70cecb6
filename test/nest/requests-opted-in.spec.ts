// What a request can turn on for itself with a signed header, over real HTTP.
import { once } from 'node:events';
import { type ClientRequest, get, type IncomingMessage } from 'node:http';
import { expect, it, vi } from 'vitest';
import {
  Body,
  type CanActivate,
  Controller,
  Get,
  Injectable,
  type NestInterceptor,
  Post,
  Sse,
  UseGuards,
  UseInterceptors,
  UsePipes,
} from '@nestjs/common';
import { managedSpan, type RequestOptInOptions, signSpanGroups, SpanGroup } from 'nest-lens';
import { interval, map, of, type Observable } from 'rxjs';
import { processState } from '../../src/core/state/process-state.js';
import { onEachPlatform } from '../support/adapters.js';
import { type LensApp, lensApp, namesOf, until } from '../support/lens-app.js';

vi.setConfig({ testTimeout: 60_000 });

const KEY = 'k'.repeat(32);
const OTHER_KEY = 'o'.repeat(32);
const sign = (spec: string, key = KEY): Record<string, string> => ({
  'x-lens-groups': signSpanGroups(spec, { key }),
});

const inGroup = (name: string): void => managedSpan('db_query', name, () => undefined);

@Injectable()
class Guard implements CanActivate {
  canActivate(): boolean {
    inGroup('guard');
    return true;
  }
}

@Injectable()
class Interceptor implements NestInterceptor {
  intercept(_: unknown, next: { handle(): Observable<unknown> }): Observable<unknown> {
    inGroup('interceptor');
    return next.handle();
  }
}

@Injectable()
class Pipe {
  transform(value: unknown): unknown {
    inGroup('pipe');
    return value;
  }
}

let afterResponse: (() => void) | undefined;

@Controller()
@UseGuards(Guard)
@UseInterceptors(Interceptor)
@UsePipes(Pipe)
class OrdersController {
  @Post('orders')
  @SpanGroup('orders')
  async place(@Body() body: object): Promise<object> {
    inGroup('before await');
    await new Promise((resolve) => setTimeout(resolve, 1));
    inGroup('after await');
    return body;
  }

  @Get('observed')
  observed(): Observable<string> {
    return of('seen').pipe(map((value) => (inGroup('operator'), value)));
  }

  @Get('later')
  later(): string {
    void new Promise<void>((resolve) => (afterResponse = resolve)).then(() => inGroup('after response'));
    return 'sent';
  }

  @Sse('events')
  events(): Observable<object> {
    return interval(2).pipe(map((data) => ({ data })));
  }
}

const shop = {
  namespace: 'shop',
  groups: ['orders', 'db_query', 'db_pool'],
  presets: { db: ['db_query', 'db_pool'] },
};

/** Resolves with the first event. */
async function listen(lens: LensApp, headers: Record<string, string>): Promise<ClientRequest> {
  const request = get(lens.url('/events'), { agent: false, headers });
  request.on('error', () => undefined);
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  await once(response, 'data');
  return request;
}

onEachPlatform('The header x-lens-groups', (platform) => {
  const start = (requestOptIn: RequestOptInOptions | undefined): Promise<LensApp> =>
    lensApp(platform)
      .controllers(OrdersController)
      .forRoot({ registrations: [shop], ...(requestOptIn && { requestOptIn }) })
      .spec('-all')
      .configure((app) =>
        app.use((_: unknown, __: unknown, next: () => void) => (inGroup('middleware'), next())),
      )
      .start();
  const isUntouched = (): Promise<boolean> =>
    until(() => processState.isAdmitted === undefined && processState.open.size === 0);
  const countsOf = async (lens: LensApp): Promise<unknown> =>
    (await lens.get('/lens/groups')).json().requestOptIn;

  it('I1: turns groups on for its request, guards to handler, and for no other', async () => {
    const lens = await start({ key: KEY });
    const reply = await lens.post('/orders', { id: 1 }, { headers: sign('db_query, orders') });
    expect([reply.status, reply.json()]).toEqual([201, { id: 1 }]);
    expect(await isUntouched()).toBe(true);
    await lens.post('/orders', { id: 2 });
    expect(namesOf(await lens.spans())).toEqual([
      'OrdersController.place',
      'after await',
      'before await',
      'guard',
      'interceptor',
      'middleware',
      'pipe',
    ]);
    expect(await countsOf(lens)).toEqual({ allow: 'all', accepted: 1, ignored: {} });
  });

  it('I1: reaches the operators of an observable', async () => {
    const lens = await start({ key: KEY });
    await lens.get('/observed', { headers: sign('db_*') });
    expect(namesOf(await lens.spans())).toEqual(['guard', 'interceptor', 'middleware', 'operator']);
  });

  it('I1: turns on what is registered and allowed, whether it is named by preset or wildcard', async () => {
    const lens = await start({ key: KEY, allow: ['db', '-db_pool'] });
    await lens.post('/orders', {}, { headers: sign('all') });
    await lens.get('/observed', { headers: sign('orders,db_pool,nobody') });
    expect(namesOf(await lens.spans())).toEqual([
      'after await',
      'before await',
      'guard',
      'interceptor',
      'middleware',
      'pipe',
    ]);
    expect(await countsOf(lens)).toEqual({ allow: 'db,-db_pool', accepted: 1, ignored: { notAllowed: 1 } });
  });

  it('I1: ends with its response: what goes on after it makes no more spans', async () => {
    const lens = await start({ key: KEY });
    await lens.get('/later', { headers: sign('db_query') });
    expect(await isUntouched()).toBe(true);
    afterResponse?.();
    await new Promise((resolve) => setImmediate(resolve));
    expect(namesOf(await lens.spans())).toEqual(['guard', 'interceptor', 'middleware']);
  });

  it('I1: ends when its client leaves', async () => {
    const lens = await start({ key: KEY });
    const client = await listen(lens, sign('db_query'));
    expect([...processState.open]).toEqual(['db_query']);
    client.destroy();
    expect(await isUntouched()).toBe(true);
  });

  it('I1: is ignored and counted when it is forged, expired, cut, doubled or huge', async () => {
    const lens = await start({ key: KEY });
    const good = sign('db_query')['x-lens-groups']!;
    const headers: (string | string[])[] = [
      sign('db_query', OTHER_KEY)['x-lens-groups']!,
      good.replace('db_query', 'orders'),
      good.replace(/exp=\d/, 'exp=2'),
      good.replace(/exp=\d+/, 'exp=1'),
      good.replace(/exp=\d+/, `exp=${Date.now() + 2 * 86_400_000}`),
      good.slice(0, -1),
      'db_query',
      '',
      `${good}, ${good}`,
      `${'a'.repeat(3_000)};exp=1;sig=${'a'.repeat(43)}`,
    ];
    for (const value of headers)
      await lens.get('/observed', { headers: { 'x-lens-groups': value as string } });
    expect(namesOf(await lens.spans())).toEqual([]);
    expect(await countsOf(lens)).toEqual({
      allow: 'all',
      accepted: 0,
      ignored: { badSignature: 2, duplicate: 1, expired: 1, expiresTooLate: 2, malformed: 3, oversized: 1 },
    });
    const said = lens.warnings.filter(({ code }) => code === 'REQUEST_OPT_IN_IGNORED');
    expect(said).toHaveLength(6);
    expect(JSON.stringify([said, (await lens.get('/lens/groups')).json()])).not.toMatch(/kkkk|oooo|sig=/);
  });

  it('I1: may be sent again until it expires, and is verified with any of the keys', async () => {
    const lens = await start({ key: 'n'.repeat(32), keys: [KEY, undefined as never] });
    const headers = sign('db_query');
    await lens.get('/observed', { headers });
    await lens.get('/observed', { headers });
    expect(await countsOf(lens)).toMatchObject({ accepted: 2 });
  });

  it('I1: means nothing without a key', async () => {
    for (const requestOptIn of [undefined, { key: undefined }, { keys: [] }]) {
      const lens = await start(requestOptIn);
      await lens.get('/observed', { headers: sign('db_query') });
      expect(namesOf(await lens.spans())).toEqual([]);
      expect(processState.requestOptIn).toBeUndefined();
      expect(lens.warnings).toEqual([]);
      await lens.close();
    }
  });

  it('I1: keeps apart a hundred requests at once', async () => {
    const lens = await start({ key: KEY });
    const headers = [sign('db_query'), sign('orders'), {}, sign('db_query', OTHER_KEY)];
    await Promise.all(
      Array.from({ length: 100 }, (_, at) => lens.post('/orders', {}, { headers: headers[at % 4]! })),
    );
    const names = namesOf(await lens.spans());
    expect(names.filter((name) => name === 'OrdersController.place')).toHaveLength(25);
    expect(names.filter((name) => name === 'after await')).toHaveLength(25);
    expect(names).toHaveLength(25 * 7);
    expect(await isUntouched()).toBe(true);
  });

  it('S1: a set-up that ends meanwhile closes the gates', async () => {
    const lens = await start({ key: KEY });
    const client = await listen(lens, sign('db_query'));
    processState.requestOptIn!.stop();
    expect([processState.isAdmitted !== undefined, ...processState.open]).toEqual([false]);
    client.destroy();
  });
});
