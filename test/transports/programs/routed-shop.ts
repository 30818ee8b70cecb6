import 'reflect-metadata';
import type { ServerResponse } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo, Server } from 'node:net';
import {
  All,
  Body,
  type CanActivate,
  Controller,
  type DynamicModule,
  Get,
  HostParam,
  HttpCode,
  Inject,
  Injectable,
  Module,
  type NestInterceptor,
  Next,
  NotFoundException,
  Param,
  ParseIntPipe,
  Post,
  RequestMethod,
  Scope,
  ServiceUnavailableException,
  Sse,
  UseGuards,
  UseInterceptors,
  Version,
  VERSION_NEUTRAL,
  VersioningType,
} from '@nestjs/common';
import {
  APP_INTERCEPTOR,
  ContextIdFactory,
  type ContextIdStrategy,
  HttpAdapterHost,
  NestFactory,
  REQUEST,
  RouterModule,
} from '@nestjs/core';
import { ExpressAdapter } from '@nestjs/platform-express';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { managedSpan, NestLensModule, overrideSpanGroups, SpanGroup, SpanGroupInterceptor } from 'nest-lens';
import { of } from 'rxjs';

const require = createRequire(import.meta.url);

// A shop with a route of every sort, once for each platform, with and without the interceptor, and with versions in the path
// or in a header; all in one process.

interface ShopOptions {
  platform: string;
  intercepted: boolean;
  versions: string;
}

class ByTenant implements ContextIdStrategy {
  private readonly tenants = new Map<string, ReturnType<typeof ContextIdFactory.create>>();

  attach(contextId: ReturnType<typeof ContextIdFactory.create>, request: any) {
    const tenant = String(request.headers?.['x-tenant'] ?? 'none');
    const known = this.tenants.get(tenant) ?? ContextIdFactory.create();
    this.tenants.set(tenant, known);
    return {
      resolve: (info: { isTreeDurable: boolean }) => (info.isTreeDurable ? known : contextId),
      payload: { tenant },
    };
  }
}
ContextIdFactory.apply(new ByTenant());
const startTenantsAnew: (() => void)[] = [];

/** Classes of its own for each shop: what NestLens knows of a class must not come from another shop. */
function shopModule({ platform, intercepted }: ShopOptions): DynamicModule {
  class RootModule {}

  @Controller('orders')
  @SpanGroup('orders')
  class OrdersController {
    @Get()
    list(): string {
      return 'list';
    }

    @Get(':id')
    async read(@Param('id', ParseIntPipe) id: number): Promise<string> {
      await new Promise((resolve) => setImmediate(resolve));
      return managedSpan('orders', 'inside', () => `read ${id}`);
    }

    @Post()
    place(): string {
      return 'placed';
    }

    @Get(':id/lines/:line')
    fail(): never {
      throw new NotFoundException();
    }

    @Sse(':id/events')
    events() {
      return of({ data: 'one' }, { data: 'two' });
    }

    @Version('2')
    @Get(':id')
    readAgain(@Param('id') id: string): string {
      return `read ${id} again`;
    }
  }

  @Controller({ path: ['cats', 'dogs'], version: ['1', '2'] })
  class AnimalsController {
    @SpanGroup('orders')
    @Get(['', 'all/:kind'])
    list(): string {
      return 'animals';
    }
  }

  @Controller({ path: 'maps', version: VERSION_NEUTRAL })
  @SpanGroup('orders')
  class MapsController {
    @Get(
      platform === 'Fastify'
        ? ['tiles/:x-:y', 'roads/:from?', 'numbers/:n(^\\d+$)', 'files/*']
        : ['tiles/:x-:y', 'roads{/:from}', 'numbers/:n', 'files/*path'],
    )
    read(): string {
      return 'map';
    }
  }

  @Controller({ path: 'neutral', version: VERSION_NEUTRAL })
  @SpanGroup('orders')
  class NeutralController {
    @All('any/:thing')
    any(): string {
      return 'any';
    }

    @Get(platform === 'Fastify' ? 'files/*' : 'files/*path')
    file(): string {
      return 'file';
    }
  }

  @Controller({ path: 'health', version: VERSION_NEUTRAL })
  class HealthController {
    @Get()
    @SpanGroup('orders')
    check(): string {
      return 'up';
    }

    @Get('deep')
    @SpanGroup('off')
    deep(): string {
      return 'up';
    }
  }

  class Closed implements CanActivate {
    canActivate(): boolean {
      return false;
    }
  }

  @Controller('closed')
  class ClosedController {
    @UseGuards(Closed)
    @SpanGroup('orders')
    @Get()
    list(): string {
      return 'never';
    }
  }

  @Controller({ host: ':tenant.shop.test', path: 'hosted', version: VERSION_NEUTRAL })
  class TenantController {
    @Get(':id')
    @SpanGroup('orders')
    read(@HostParam('tenant') tenant: string): string {
      return tenant;
    }
  }

  @Injectable({ scope: Scope.REQUEST })
  class Basket {
    constructor(@Inject(REQUEST) readonly request: { url: string }) {}

    @SpanGroup('orders')
    url(): string {
      return this.request.url;
    }
  }

  @Controller('baskets')
  class BasketsController {
    constructor(private readonly basket: Basket) {}

    @Get(':id')
    @SpanGroup('orders')
    read(): string {
      return this.basket.url();
    }
  }

  /** One for each tenant, not for each request. */
  @Injectable({ scope: Scope.REQUEST, durable: true })
  class TenantPrices {
    static made = 0;
    constructor() {
      TenantPrices.made += 1;
    }

    @SpanGroup('orders')
    made(): number {
      return TenantPrices.made;
    }
  }

  startTenantsAnew.push(() => (TenantPrices.made = 0));

  @Controller('prices')
  class PricesController {
    constructor(private readonly prices: TenantPrices) {}

    @Get(':id')
    @SpanGroup('orders')
    read(): string {
      return String(this.prices.made());
    }
  }

  @Injectable()
  class Unavailable implements NestInterceptor {
    intercept(): never {
      throw new ServiceUnavailableException();
    }
  }

  class Missing implements CanActivate {
    canActivate(): never {
      throw new NotFoundException();
    }
  }

  /** In no group. */
  @Controller({ path: 'plain', version: VERSION_NEUTRAL })
  class PlainController {
    constructor(@Inject(HttpAdapterHost) private readonly http: HttpAdapterHost) {}

    @Get(':id')
    read(@Param('id') id: string): string {
      return `plain ${id}`;
    }

    @Get(':id/number')
    number(@Param('id', ParseIntPipe) id: number): number {
      return id;
    }

    @Get(':id/guarded')
    @UseGuards(Missing)
    guarded(): void {}

    @Get(':id/intercepted')
    @UseInterceptors(Unavailable)
    intercepted(): void {}

    @Post(':id/body')
    @HttpCode(200)
    body(@Body() body: object): object {
      return body;
    }

    @Get(':id/passes')
    passes(@Next() next: () => void): void {
      next();
    }

    /** Asks another route within the process. */
    @Get(':id/calls')
    async calls(): Promise<string> {
      const instance = this.http.httpAdapter.getInstance<{
        inject(url: string): Promise<{ body: string }>;
      }>();
      return (await instance.inject('/api/health/deep')).body;
    }
  }

  @Controller('stock')
  @SpanGroup('orders')
  class StockController {
    @Get(':product')
    read(): string {
      return 'stock';
    }
  }

  @Module({ controllers: [StockController] })
  class StockModule {}

  @Controller('returns')
  @SpanGroup('orders')
  class ReturnsController {
    @Get(':id')
    read(): string {
      return 'return';
    }
  }

  @Module({ controllers: [ReturnsController] })
  class DeskModule {}

  @Module({ controllers: [ReturnsController] })
  class MailModule {}

  @Module({ imports: [StockModule] })
  class WarehouseModule {}

  const routes = RouterModule.register([
    {
      path: 'warehouses/:warehouse',
      module: WarehouseModule,
      children: [{ path: 'shelf', module: StockModule }],
    },
    { path: 'desk', module: DeskModule },
    { path: 'mail', module: MailModule },
  ]);
  // RouterModule comes before NestLensModule or after it: the order must not matter.
  const lens = NestLensModule.forRoot({
    registrations: [{ namespace: 'shop', groups: ['orders', 'off'] }],
  });
  return {
    module: RootModule,
    imports: intercepted
      ? [routes, lens, WarehouseModule, DeskModule, MailModule]
      : [lens, WarehouseModule, DeskModule, MailModule, routes],
    controllers: [
      OrdersController,
      AnimalsController,
      MapsController,
      NeutralController,
      HealthController,
      ClosedController,
      TenantController,
      BasketsController,
      PricesController,
      PlainController,
    ],
    providers: [
      Basket,
      TenantPrices,
      ...(intercepted ? [{ provide: APP_INTERCEPTOR, useExisting: SpanGroupInterceptor }] : []),
    ],
  };
}

/** What an application registers with the router itself. */
function registerWithFastify(instance: any): void {
  instance.addHook('onRequest', async (request: any, reply: any) => {
    if (request.headers['x-refused'] === 'first') await reply.code(401).send('refused');
  });
  instance.addHook('preHandler', (request: any, reply: any, done: () => void) => {
    if (request.headers['x-refused'] === 'last') void reply.code(403).send('refused');
    else done();
  });
  instance.get('/raw/:id', () => Promise.resolve('raw'));
  void instance.register(
    (child: any, _options: unknown, done: () => void) => {
      child.get('/:id', () => Promise.resolve('raw'));
      done();
    },
    { prefix: '/below' },
  );
}

function registerWithExpress(instance: any): void {
  const raw = (_request: unknown, response: ServerResponse): unknown => response.end('raw');
  instance.get('/raw/:id', raw);
  const router = require('express').Router();
  router.get('/:id', raw);
  instance.use('/below/:tenant', router);
  instance.use('/middleware', (_request: unknown, response: ServerResponse) => response.end('middleware'));
}

async function startShop(options: ShopOptions): Promise<number> {
  const adapter = options.platform === 'Fastify' ? new FastifyAdapter() : new ExpressAdapter();
  const app = await NestFactory.create(shopModule(options), adapter, { logger: ['warn', 'error'] });
  if (options.versions === 'uri') {
    app.setGlobalPrefix('api', {
      exclude: ['health', { path: 'neutral/any/:thing', method: RequestMethod.ALL }],
    });
    app.enableVersioning({ type: VersioningType.URI, defaultVersion: '1' });
  } else {
    app.enableVersioning({ type: VersioningType.HEADER, header: 'x-version', defaultVersion: '1' });
  }
  if (options.platform === 'Fastify') registerWithFastify(app.getHttpAdapter().getInstance());
  else registerWithExpress(app.getHttpAdapter().getInstance());
  await app.listen(0, '127.0.0.1');
  return ((app.getHttpServer() as Server).address() as AddressInfo).port;
}

const { finishedSpans, requestRoutes } = globalThis as {
  finishedSpans?: () => unknown[];
  requestRoutes?: () => Promise<unknown[]>;
};
process.on('disconnect', () => process.exit(0));
process.on('message', (message) => {
  if (message === 'routes') void requestRoutes?.().then((routes) => process.send!(routes));
  else if (message === 'spans') process.send!(finishedSpans?.() ?? []);
  else {
    overrideSpanGroups(String(message));
    ContextIdFactory.apply(new ByTenant());
    for (const startAnew of startTenantsAnew) startAnew();
    process.send!('done');
  }
});
const ports: Record<string, number> = {};
for (const platform of ['Express', 'Fastify']) {
  for (const intercepted of process.env.INTERCEPTED === 'never' ? [false] : [false, true]) {
    for (const versions of ['uri', 'header']) {
      ports[`${platform},${intercepted},${versions}`] = await startShop({ platform, intercepted, versions });
    }
  }
}
process.send!(ports);
