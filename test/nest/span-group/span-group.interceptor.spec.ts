import { expect, it } from 'vitest';
import { Controller, Get, Module, Param, ParseIntPipe, Scope, UseInterceptors } from '@nestjs/common';
import type { CallHandler, ExecutionContext, NestInterceptor } from '@nestjs/common';
import { APP_INTERCEPTOR } from '@nestjs/core';
import { Test } from '@nestjs/testing';
import { propagation, SpanStatusCode } from '@opentelemetry/api';
import { NestLensModule, SpanGroup, SpanGroupInterceptor } from 'nest-lens';
import { type Observable } from 'rxjs';
import { onEachPlatform } from '../../support/adapters.js';
import {
  everythingSaid,
  lensApp,
  namesOf,
  parentIdOf,
  theSpan,
  type LensAppBuilder,
} from '../../support/lens-app.js';

onEachPlatform('SpanGroupInterceptor', (platform) => {
  @Controller('orders')
  class OrdersController {
    @Get()
    @SpanGroup('orders')
    list(): string {
      return 'list';
    }
  }

  @Controller('orders')
  @UseInterceptors(SpanGroupInterceptor)
  class BoundController {
    @Get()
    @SpanGroup('orders')
    @UseInterceptors(SpanGroupInterceptor)
    list(): string {
      return 'list';
    }
  }

  @Controller('orders')
  @UseInterceptors(SpanGroupInterceptor)
  class OnceBoundController {
    @Get()
    @SpanGroup('orders')
    list(): string {
      return 'list';
    }
  }

  @Module({ imports: [NestLensModule] })
  class BareImportingModule {}

  @Module({ imports: [NestLensModule.forFeature({ namespace: 'shop', groups: ['orders'] })] })
  class FeatureModule {}

  const globally = { provide: APP_INTERCEPTOR, useExisting: SpanGroupInterceptor };
  const asInstance = { provide: APP_INTERCEPTOR, useClass: SpanGroupInterceptor };

  const ways: [string, string, (lens: LensAppBuilder) => LensAppBuilder][] = [
    ['the decorator alone', 'OrdersController', (l) => l.controllers(OrdersController)],
    ['bound to controller and handler', 'BoundController', (l) => l.controllers(BoundController)],
    ['bound to the controller', 'OnceBoundController', (l) => l.controllers(OnceBoundController)],
    ['global by useExisting', 'OrdersController', (l) => l.providers(globally).controllers(OrdersController)],
    ['global by useClass', 'OrdersController', (l) => l.providers(asInstance).controllers(OrdersController)],
    [
      'global by the application, from its container',
      'OrdersController',
      (l) =>
        l
          .controllers(OrdersController)
          .configure((app) => void app.useGlobalInterceptors(app.get(SpanGroupInterceptor))),
    ],
    [
      'imported as a bare class and by forRoot',
      'OnceBoundController',
      (l) => l.imports(BareImportingModule).controllers(OnceBoundController),
    ],
    [
      'imported by forRoot twice and by forFeature',
      'OnceBoundController',
      (l) => l.imports(FeatureModule, NestLensModule.forRoot()).controllers(OnceBoundController),
    ],
    [
      'all of these at once',
      'BoundController',
      (l) =>
        l
          .imports(BareImportingModule, FeatureModule, NestLensModule.forRoot())
          .providers(globally, asInstance)
          .controllers(BoundController)
          .configure((app) => void app.useGlobalInterceptors(app.get(SpanGroupInterceptor))),
    ],
  ];

  it.each(ways)('N5: %s: one handler call gives one span', async (_title, controller, arrange) => {
    const lens = await arrange(lensApp(platform).groups('orders')).start();

    expect((await lens.get('/orders')).text).toBe('list');
    const spans = await lens.spans();
    expect(namesOf(spans)).toEqual([`${controller}.list`]);
    expect(spans[0]!.attributes).toMatchObject({
      'nestlens.group': 'orders',
      'nestjs.controller': controller,
      'nestjs.callback': 'list',
    });
    expect(lens.inFlight()).toEqual([]);
    expect(everythingSaid()).toEqual([]);
  });

  it('N6: the handlers that are in no group are as without it', async () => {
    @Controller('plain')
    @UseInterceptors(SpanGroupInterceptor)
    class PlainController {
      @Get()
      list(): string {
        return 'plain';
      }
    }
    const lens = await lensApp(platform)
      .groups('orders')
      .providers(globally)
      .controllers(PlainController)
      .start();

    expect((await lens.get('/plain')).text).toBe('plain');
    expect(lens.tracker.started).toBe(0);
  });

  it('N6, N4: bound in an application without the module, it lets everything through', async () => {
    const lens = await lensApp(platform).controllers(BoundController).start();

    expect((await lens.get('/orders')).text).toBe('list');
  });

  it('N6: a testing module can put another in its place, bound to controllers and as a provider', async () => {
    const called: string[] = [];
    class Replacement implements NestInterceptor {
      intercept(execution: ExecutionContext, next: CallHandler): Observable<unknown> {
        called.push(execution.getHandler().name);
        return next.handle();
      }
    }
    const bound = lensApp(platform).groups('orders').controllers(BoundController);
    const provided = lensApp(platform).groups('orders').controllers(OrdersController).providers(globally);
    for (const [builder, method] of [
      [bound, 'overrideInterceptor'],
      [provided, 'overrideProvider'],
    ] as const) {
      called.length = 0;
      const testing = Test.createTestingModule({ imports: [builder.root()] });
      testing[method](SpanGroupInterceptor)
        .useValue(new Replacement())
        .setLogger(false as never);
      const lens = await builder.serve((await testing.compile()).createNestApplication(platform.create()));
      expect((await lens.get('/orders')).text).toBe('list');
      expect({ method, called: new Set(called) }).toEqual({ method, called: new Set(['list']) });
      await lens.close();
    }
  });

  it('N6: request-scoped controllers, with the interceptor and the decorator, give one span each', async () => {
    @Controller({ path: 'orders', scope: Scope.REQUEST })
    @UseInterceptors(SpanGroupInterceptor)
    class ScopedController {
      @Get()
      @SpanGroup('orders')
      list(): string {
        return 'list';
      }
    }
    const lens = await lensApp(platform).groups('orders').controllers(ScopedController).start();
    await lens.get('/orders');
    await lens.get('/orders');

    expect(namesOf(await lens.spans())).toEqual(['ScopedController.list', 'ScopedController.list']);
  });

  it('N6: an inherited handler with the interceptor is named after the class that serves it', async () => {
    class Base {
      @Get()
      @SpanGroup('orders')
      @UseInterceptors(SpanGroupInterceptor)
      list(): string {
        return 'list';
      }
    }
    @Controller('a')
    class AController extends Base {}
    @Controller('b')
    class BController extends Base {}
    const lens = await lensApp(platform).groups('orders').controllers(AController, BController).start();
    await lens.get('/a');
    await lens.get('/b');

    expect(namesOf(await lens.spans())).toEqual(['AController.list', 'BController.list']);
  });

  it('I3, N6: attributes get the arguments of the handler, once a call; a call that a pipe refuses computes none', async () => {
    const computed: unknown[][] = [];
    @Controller('orders')
    @UseInterceptors(SpanGroupInterceptor)
    class AttributesController {
      @Get(':id')
      @SpanGroup('orders', {
        attributes: (...args: unknown[]) => {
          computed.push(args);
          return { 'order.id': Number(args[0]) };
        },
      })
      one(@Param('id', ParseIntPipe) id: number): string {
        return String(id);
      }
    }
    const lens = await lensApp(platform).groups('orders').controllers(AttributesController).start();
    await lens.get('/orders/seven');
    expect(computed).toEqual([]);
    await lens.get('/orders/7');
    const spans = await lens.spans();

    expect(computed).toEqual([[7]]);
    expect(spans.map((span) => span.attributes['order.id'])).toEqual([undefined, 7]);
  });

  it('H12: a propagator that throws costs the trace of the caller, not the request', async () => {
    propagation.setGlobalPropagator({
      inject: () => undefined,
      extract: () => {
        throw new Error('a bad header');
      },
      fields: () => ['traceparent'],
    });
    const lens = await lensApp(platform).groups('orders').controllers(OnceBoundController).start();
    const reply = await lens.get('/orders', {
      headers: { traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01' },
    });

    expect([reply.status, reply.text]).toEqual([200, 'list']);
    const span = theSpan(await lens.spans(), 'OnceBoundController.list');
    expect(parentIdOf(span)).toBeUndefined();
    expect(span.status.code).toBe(SpanStatusCode.UNSET);
    expect(lens.inFlight()).toEqual([]);
  });
});
