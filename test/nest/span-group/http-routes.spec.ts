import { setFlagsFromString } from 'node:v8';
import vm from 'node:vm';
import { describe, expect, it } from 'vitest';
import { All, Controller, Get, type INestApplication, Module, Post, RequestMethod } from '@nestjs/common';
import { ApplicationConfig, ModulesContainer, RouterModule } from '@nestjs/core';
import { SpanGroup } from 'nest-lens';
import { processState } from '../../../src/core/state/process-state.js';
import { HttpRoutes, httpRoutesOf, liveSources } from '../../../src/nest/span-group/http-routes.js';
import { express } from '../../support/adapters.js';
import { expectRoutes, type RouteCase } from '../../support/known-routes.js';
import { guardEachTest, lensApp } from '../../support/lens-app.js';

@SpanGroup('orders')
@Controller('orders')
class OrdersController {
  @Get()
  list(): string {
    return 'list';
  }

  @Post(':id')
  change(): string {
    return 'changed';
  }

  @All('any')
  any(): string {
    return 'any';
  }
}

@SpanGroup('orders')
@Controller(['cats', '/dogs/'])
class AnimalsController {
  @Get(['', 'all'])
  list(): string {
    return 'animals';
  }
}

@SpanGroup('orders')
@Controller()
class RootController {
  @Get()
  list(): string {
    return 'root';
  }
}

@Module({ controllers: [OrdersController] })
class Desk {}
@Module({ controllers: [OrdersController] })
class Mail {}

const CASES: readonly RouteCase[] = [
  { title: 'of a path', Class: OrdersController, method: 'list', routes: ['GET /orders'] },
  { title: 'of another method', Class: OrdersController, method: 'change', routes: ['POST /orders/:id'] },
  { title: 'of any method', Class: OrdersController, method: 'any', routes: ['ALL /orders/any'] },
  { title: 'of no path', Class: RootController, method: 'list', routes: ['GET /'] },
  {
    title: 'of several paths',
    Class: AnimalsController,
    method: 'list',
    routes: ['GET /cats', 'GET /cats/all', 'GET /dogs', 'GET /dogs/all'],
  },
  {
    title: 'below a prefix',
    Class: OrdersController,
    method: 'list',
    configure: (app) => app.setGlobalPrefix('/api/'),
    routes: ['GET /api/orders'],
  },
  ...[
    { excluded: 'the path', exclude: ['orders'], method: 'list', routes: ['GET /orders'] },
    { excluded: 'another path', exclude: ['order'], method: 'list', routes: ['GET /api/orders'] },
    {
      excluded: 'the path for its method',
      exclude: [
        { path: 'orders/any', method: RequestMethod.ALL },
        { path: 'orders', method: RequestMethod.GET },
      ],
      method: 'list',
      routes: ['GET /orders'],
    },
    {
      excluded: 'the path for another method',
      exclude: [{ path: 'orders', method: RequestMethod.PUT }],
      method: 'list',
      routes: ['GET /api/orders'],
    },
  ].map(({ excluded, exclude, method, routes }) => ({
    title: `below a prefix that leaves out ${excluded}`,
    Class: OrdersController,
    method,
    configure: (app: INestApplication) => app.setGlobalPrefix('api', { exclude }),
    routes,
  })),
  {
    title: 'below the path of a module, and of the module above it',
    Class: OrdersController,
    method: 'list',
    imports: [
      Desk,
      RouterModule.register([
        { path: 'shop', module: class Shop {}, children: [{ path: 'desk', module: Desk }] },
      ]),
    ],
    routes: ['GET /shop/desk/orders'],
  },
  {
    title: 'of a controller of several modules',
    Class: OrdersController,
    method: 'list',
    imports: [
      Desk,
      Mail,
      RouterModule.register([
        { path: 'desk', module: Desk },
        { path: 'mail', module: Mail },
      ]),
    ],
    routes: ['GET /desk/orders', 'GET /mail/orders'],
  },
  {
    title: 'of a controller of several modules of the same path',
    Class: OrdersController,
    method: 'list',
    imports: [Desk, Mail],
    routes: ['GET /orders'],
  },
];

describe('the routes that are known of a handler', () => {
  guardEachTest();

  it.each(CASES)('N7, I10: are those at which it answers: $title', expectRoutes);

  it('N7: are none for a class and a method that no application has, and none when it has closed', async () => {
    const lens = await lensApp(express).groups('orders').controllers(OrdersController).start();
    const { list } = OrdersController.prototype;

    expect(httpRoutesOf(OrdersController, list)).toHaveLength(1);
    expect(httpRoutesOf(AnimalsController, AnimalsController.prototype.list)).toEqual([]);
    expect(httpRoutesOf(OrdersController, () => undefined)).toEqual([]);
    await lens.close();
    expect(httpRoutesOf(OrdersController, list)).toEqual([]);
  });

  it('N2: are forgotten with an application that nobody closes', async () => {
    setFlagsFromString('--expose-gc');
    const collectGarbage = vm.runInNewContext('gc') as () => void;
    // As `NestLensModule` does; Nest itself would remember the last application.
    const publish = (): void => new HttpRoutes(new ModulesContainer(), new ApplicationConfig()).publish();
    // Applications that other tests have not closed may still be there.
    const others = new WeakSet(liveSources());
    publish();
    const published = liveSources().flatMap((source) => (others.has(source) ? [] : new WeakRef(source)));
    expect(published).toHaveLength(1);
    for (let round = 0; published[0]?.deref() !== undefined && round < 20; round++) {
      await new Promise((resolve) => setImmediate(resolve));
      collectGarbage();
    }

    expect(published[0]?.deref()).toBeUndefined();
    const live = liveSources();
    expect(processState.routeSources.size).toBe(live.length);
  });
});
