import { expect, it } from 'vitest';
import { Controller, Get, UseGuards, UsePipes, ValidationPipe } from '@nestjs/common';
import type { AutoGroupsOptions } from 'nest-lens';
import { NestLensModule } from 'nest-lens';
import { type HttpPlatform, onEachPlatform } from '../../support/adapters.js';
import {
  everythingSaid,
  lensApp,
  type LensApp,
  namesOf,
  parentIdOf,
  theSpan,
} from '../../support/lens-app.js';
import { GlobalGuard, NotFoundFilter, OrdersModule, TrimPipe } from '../../support/undecorated-orders.js';

const ALL = { handlers: 'handlers', enhancers: 'pipeline', providers: 'services' };

interface SiteOf {
  name: string;
  auto?: true;
  route?: string;
}

onEachPlatform('autoGroups', (platform: HttpPlatform) => {
  const start = (autoGroups: AutoGroupsOptions | undefined, spec = 'all'): Promise<LensApp> =>
    lensApp(platform)
      .groups('orders')
      .spec(spec)
      .forRoot(autoGroups === undefined ? {} : { autoGroups })
      .imports(OrdersModule)
      .start();
  const sitesOf = async (lens: LensApp): Promise<Record<string, SiteOf[]>> => {
    const { groups } = (await lens.get('/lens/groups?sites=1')).json();
    return Object.fromEntries(groups.map((group: any) => [group.name, group.siteList]));
  };

  it('all three give one request its whole tree, whose parts have the names of their classes', async () => {
    const lens = await start(ALL);
    const reply = await lens.get('/orders/42');
    expect(reply.json()).toEqual({ id: '42', price: 2 });

    const spans = await lens.spans();
    expect(namesOf(spans)).toEqual([
      'GlobalGuard.canActivate',
      'GlobalInterceptor.intercept',
      'OrdersController.read',
      'OrdersService.find',
      'PriceTable.lookUp',
      'RolesGuard.canActivate',
      'TimingInterceptor.intercept',
      'TrimPipe.transform',
    ]);
    const parentOf = (name: string): string | undefined => {
      const id = parentIdOf(theSpan(spans, name));
      return spans.find((span) => span.spanContext().spanId === id)?.name;
    };
    expect(parentOf('PriceTable.lookUp')).toBe('OrdersService.find');
    expect(parentOf('OrdersService.find')).toBe('OrdersController.read');
    expect(parentOf('OrdersController.read')).toBe('TimingInterceptor.intercept');
    expect(parentOf('TimingInterceptor.intercept')).toBe('GlobalInterceptor.intercept');
    expect(parentOf('RolesGuard.canActivate')).toBeUndefined();
    expect(theSpan(spans, 'OrdersController.read').attributes).toMatchObject({
      'nestlens.group': 'handlers',
      'http.route': '/orders/:id',
    });
    expect(theSpan(spans, 'RolesGuard.canActivate').attributes).toMatchObject({
      'nestlens.group': 'pipeline',
    });
    expect(everythingSaid()).toEqual([]);
  });

  it('what throws passes unchanged through pipe, handler and filter', async () => {
    const lens = await start(ALL);
    expect((await lens.get('/orders/bad')).status).toBe(400);
    const reply = await lens.get('/orders/none');
    expect([reply.status, reply.json()]).toEqual([404, { filtered: true }]);
    const names = namesOf(await lens.spans());
    expect(names.filter((name) => name === 'TrimPipe.transform')).toHaveLength(2);
    expect(names).toContain('NotFoundFilter.catch');
  });

  it('a group that is off leaves no trace of its members; `default` and `per_request` have the handlers only', async () => {
    for (const spec of ['default', 'per_request']) {
      const lens = await start(ALL, spec);
      await lens.get('/orders/42');
      expect(namesOf(await lens.spans())).toEqual(['OrdersController.read']);
      const report = (await lens.get('/lens/groups')).json();
      expect(report.presets[spec]).toEqual(['handlers']);
      expect(report.namespaces).toEqual(['auto', 'shop']);
      const services = report.groups.find((group: any) => group.name === 'services');
      expect(services).toMatchObject({ namespaces: ['auto'], presets: [], sites: 2, enabled: false });
      await lens.close();
    }
    expect(everythingSaid()).toEqual([]);
  });

  it('each part can be asked for alone', async () => {
    for (const [autoGroups, expected] of [
      [{ handlers: 'h' }, ['OrdersController.read']],
      [{ providers: 'p' }, ['OrdersService.find', 'PriceTable.lookUp']],
      [{}, []],
    ] as const) {
      const lens = await start(autoGroups);
      await lens.get('/orders/42');
      expect(namesOf(await lens.spans())).toEqual(expected);
      await lens.close();
    }
  });

  it('what has a group of its own stays in it, and @NoSpanGroup keeps a handler out', async () => {
    const lens = await start({ handlers: 'handlers' });
    for (const path of ['/marked', '/orders/of/nobody']) expect((await lens.get(path)).status).toBe(200);
    const [span, ...others] = await lens.spans();
    expect([span?.name, others]).toEqual(['MarkedController.list', []]);
    expect(span?.attributes['nestlens.group']).toBe('orders');
  });

  it('GET /lens/groups?sites=1 lists the sites with auto: true, and only them', async () => {
    const sites = await sitesOf(await start(ALL));
    expect(sites.handlers).toEqual([
      { name: 'OrdersController.read', kind: 'handler', type: 'http', route: 'GET /orders/:id', auto: true },
    ]);
    expect(sites.pipeline!.map(({ name, auto }) => [name, auto])).toEqual(
      [
        'GlobalGuard.canActivate',
        'GlobalInterceptor.intercept',
        'NotFoundFilter.catch',
        'RolesGuard.canActivate',
        'TimingInterceptor.intercept',
        'TrimPipe.transform',
      ].map((name) => [name, true]),
    );
    expect(sites.orders).toEqual([
      { name: 'MarkedController.list', kind: 'handler', type: 'http', route: 'GET /marked' },
    ]);
  });

  it('a group that the application has registered is used as it is: its presets are the application’s', async () => {
    const lens = await lensApp(platform)
      .groups('orders')
      .spec('mine')
      .forRoot({ autoGroups: { handlers: 'orders', providers: 'jobs' } })
      .imports(
        OrdersModule,
        NestLensModule.forFeature({
          namespace: 'jobs',
          groups: ['jobs'],
          presets: { mine: ['orders', 'jobs'] },
        }),
      )
      .start();
    await lens.get('/orders/42');
    expect(namesOf(await lens.spans())).toEqual([
      'OrdersController.read',
      'OrdersService.find',
      'PriceTable.lookUp',
    ]);
    const { namespaces, presets } = (await lens.get('/lens/groups')).json();
    expect([namespaces, presets.default]).toEqual([['jobs', 'shop'], undefined]);
    expect(everythingSaid()).toEqual([]);
  });

  it('enhancers that the application binds as instances are among them, those of useGlobalPipes too', async () => {
    @Controller('bound')
    @UseGuards(new GlobalGuard())
    class BoundController {
      @Get()
      @UsePipes(new TrimPipe())
      list(): string {
        return 'bound';
      }
    }
    const lens = await lensApp(platform)
      .forRoot({ autoGroups: { enhancers: 'pipeline' } })
      .controllers(BoundController)
      .configure((app) => app.useGlobalFilters(new NotFoundFilter()).useGlobalPipes(new ValidationPipe()))
      .start();
    const before = Object.getOwnPropertyDescriptor(ValidationPipe.prototype, 'transform')!.value;
    expect((await lens.get('/bound')).text).toBe('bound');
    expect((await lens.get('/nowhere')).json()).toEqual({ filtered: true });
    expect(namesOf(await lens.spans())).toEqual(['GlobalGuard.canActivate', 'NotFoundFilter.catch']);
    await lens.close();
    expect(ValidationPipe.prototype.transform).not.toBe(before);
  });

  it('without the option nothing is gated', async () => {
    const lens = await start(undefined);
    await lens.get('/orders/42');
    expect(await lens.spans()).toEqual([]);
    expect((await lens.get('/lens/groups')).json().namespaces).toEqual(['shop']);
  });
});
