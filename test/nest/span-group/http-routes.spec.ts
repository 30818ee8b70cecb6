import { setFlagsFromString } from 'node:v8';
import vm from 'node:vm';
import { describe, expect, it } from 'vitest';
import {
  All,
  Controller,
  Get,
  type INestApplication,
  Module,
  Post,
  RequestMethod,
  type Type,
  Version,
  VERSION_NEUTRAL,
  VersioningType,
} from '@nestjs/common';
import { ApplicationConfig, ModulesContainer, RouterModule } from '@nestjs/core';
import { SpanGroup } from 'nest-lens';
import { processState } from '../../../src/core/state/process-state.js';
import { HttpRoutes, httpRoutesOf, liveSources } from '../../../src/nest/span-group/http-routes.js';
import { express } from '../../support/adapters.js';
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

  @Get()
  @Version('2')
  listAgain(): string {
    return 'list again';
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

@SpanGroup('orders')
@Controller({ path: 'versioned', version: ['3', VERSION_NEUTRAL] })
class VersionedController {
  @Get()
  list(): string {
    return 'versioned';
  }

  @Get()
  @Version('4')
  fourth(): string {
    return 'fourth';
  }
}

@Module({ controllers: [OrdersController] })
class Desk {}
@Module({ controllers: [OrdersController] })
class Mail {}

const uri = (versioning: object = {}) => ({ type: VersioningType.URI, ...versioning }) as never;

interface Case {
  readonly title: string;
  readonly Class: Type<unknown>;
  readonly method: string;
  readonly imports?: any[];
  readonly configure?: (app: INestApplication) => void;
  readonly routes: readonly string[];
}

const CASES: readonly Case[] = [
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
  ...[
    { is: 'the default', method: 'list', versioning: { defaultVersion: '1' }, routes: ['GET /v1/orders'] },
    { is: 'missing', method: 'list', versioning: {}, routes: ['GET /orders'] },
    { is: 'its own', method: 'listAgain', versioning: { defaultVersion: '1' }, routes: ['GET /v2/orders'] },
    {
      is: 'the default of several',
      method: 'list',
      versioning: { defaultVersion: ['1', VERSION_NEUTRAL] },
      routes: ['GET /v1/orders', 'GET /orders'],
    },
    { is: 'without a letter', method: 'listAgain', versioning: { prefix: false }, routes: ['GET /2/orders'] },
    { is: 'after a word', method: 'listAgain', versioning: { prefix: 'rev' }, routes: ['GET /rev2/orders'] },
  ].map(({ is, method, versioning, routes }) => ({
    title: `whose version in the path is ${is}`,
    Class: OrdersController,
    method,
    configure: (app: INestApplication) => app.enableVersioning(uri(versioning)),
    routes,
  })),
  {
    title: 'with the versions of the controller',
    Class: VersionedController,
    method: 'list',
    configure: (app) => app.setGlobalPrefix('api').enableVersioning(uri({ defaultVersion: '1' })),
    routes: ['GET /api/v3/versioned', 'GET /api/versioned'],
  },
  {
    title: "with the handler's version in place of the controller's",
    Class: VersionedController,
    method: 'fourth',
    configure: (app) => app.enableVersioning(uri()),
    routes: ['GET /v4/versioned'],
  },
  {
    title: 'whose version is in a header',
    Class: OrdersController,
    method: 'list',
    configure: (app) =>
      app.enableVersioning({ type: VersioningType.HEADER, header: 'x-version', defaultVersion: '1' }),
    routes: ['GET /orders'],
  },
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

  it.each(CASES)(
    'N7, I10: are those at which it answers: $title',
    async ({ Class, method, imports = [], configure = () => undefined, routes }) => {
      const builder = lensApp(express).groups('orders').configure(configure);
      if (imports.length > 0) builder.imports(...imports);
      else builder.controllers(Class);
      const lens = await builder.start();
      const handler = (Class.prototype as Record<string, () => string>)[method]!;
      const version = { 'x-version': '1' };

      expect(httpRoutesOf(Class, handler).map(({ verb, template }) => `${verb} ${template}`)).toEqual(routes);
      for (const route of routes) {
        const [verb, path] = route.split(' ') as [string, string];
        const reply = await lens.request(verb.replace('ALL', 'PUT'), path, { headers: version });
        expect({ route, text: reply.text }).toEqual({ route, text: handler.call({}) });
      }
    },
  );

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
    publish();
    expect(liveSources()).toHaveLength(1);
    for (let round = 0; liveSources().length > 0 && round < 20; round++) {
      await new Promise((resolve) => setImmediate(resolve));
      collectGarbage();
    }

    expect(liveSources()).toEqual([]);
    expect(processState.routeSources.size).toBe(0);
  });
});
