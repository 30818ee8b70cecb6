import { describe, it } from 'vitest';
import {
  Controller,
  Get,
  type INestApplication,
  Version,
  VERSION_NEUTRAL,
  VersioningType,
} from '@nestjs/common';
import { SpanGroup } from 'nest-lens';
import { expectRoutes, type RouteCase } from '../../support/known-routes.js';
import { guardEachTest } from '../../support/lens-app.js';

@SpanGroup('orders')
@Controller('orders')
class OrdersController {
  @Get()
  list(): string {
    return 'list';
  }

  @Get()
  @Version('2')
  listAgain(): string {
    return 'list again';
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

const uri = (versioning: object = {}) => ({ type: VersioningType.URI, ...versioning }) as never;

const CASES: readonly RouteCase[] = [
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
];

describe('the routes that are known of a handler with versions', () => {
  guardEachTest();

  it.each(CASES)('N7, I10: are those at which it answers: $title', expectRoutes);
});
