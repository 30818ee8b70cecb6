import { describe, expect, it } from '@jest/globals';
import {
  Controller,
  Get,
  Injectable,
  Module,
  NotFoundException,
  Param,
  ParseIntPipe,
  Scope,
  UseGuards,
  UseInterceptors,
  UsePipes,
} from '@nestjs/common';
import type {
  CallHandler,
  CanActivate,
  ExecutionContext,
  NestInterceptor,
  PipeTransform,
  Type,
} from '@nestjs/common';
import { APP_INTERCEPTOR, ExternalContextCreator } from '@nestjs/core';
import { Test } from '@nestjs/testing';
import { propagation, SpanStatusCode, trace } from '@opentelemetry/api';
import { managedSpan, NestLensModule, NoSpanGroup, SpanGroup, SpanGroupInterceptor } from 'nest-lens';
import { concat, from, lastValueFrom, of, throwError } from 'rxjs';
import type { Observable } from 'rxjs';
import { map, tap } from 'rxjs/operators';
import { express, onEachPlatform } from '../../support/adapters.js';
import {
  everythingSaid,
  guardEachTest,
  lensApp,
  namesOf,
  parentIdOf,
  theSpan,
} from '../../support/lens-app.js';
import type { LensApp, LensAppBuilder } from '../../support/lens-app.js';

const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Leaves a span at the place where it is called: its parent tells what was active there. */
const mark = (name: string): void => trace.getTracer('test').startSpan(name).end();

class MarkingGuard implements CanActivate {
  canActivate(): boolean {
    mark('guard');
    return true;
  }
}

class MarkingPipe implements PipeTransform {
  async transform(value: unknown): Promise<unknown> {
    await nextTurn();
    mark('pipe');
    return value;
  }
}

function markingInterceptor(name: string): Type<NestInterceptor> {
  @Injectable()
  class MarkingInterceptor implements NestInterceptor {
    intercept(_context: ExecutionContext, next: CallHandler): Observable<unknown> {
      mark(`${name} before`);
      return next.handle().pipe(tap({ next: () => mark(`${name} after`) }));
    }
  }
  return MarkingInterceptor;
}

@Injectable()
class PassThrough implements NestInterceptor {
  intercept(_context: ExecutionContext, next: CallHandler): Observable<unknown> {
    return next.handle();
  }
}

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

  it('N5: a decorator above @SpanGroup that wraps the method and copies its metadata: one span', async () => {
    let wrapperCalls = 0;
    const Counting: MethodDecorator = (_target, _key, descriptor) => {
      const inner = descriptor.value as unknown as (...args: unknown[]) => unknown;
      const outer = function (this: unknown, ...args: unknown[]): unknown {
        wrapperCalls += 1;
        return inner.apply(this, args);
      };
      for (const key of Reflect.getOwnMetadataKeys(inner) as unknown[]) {
        Reflect.defineMetadata(key, Reflect.getOwnMetadata(key, inner), outer);
      }
      descriptor.value = outer as never;
    };
    @Controller('wrapped')
    @UseInterceptors(SpanGroupInterceptor)
    class WrappedController {
      @Counting
      @SpanGroup('orders')
      @Get('below')
      below(): string {
        return 'below';
      }

      @Get('above')
      @Counting
      @SpanGroup('orders', { attributes: () => ({ 'order.kind': 'wrapped' }) })
      above(): string {
        return 'above';
      }
    }
    const lens = await lensApp(platform).groups('orders').controllers(WrappedController).start();

    expect((await lens.get('/wrapped/below')).text).toBe('below');
    expect((await lens.get('/wrapped/above')).text).toBe('above');
    const spans = await lens.spans();
    expect(wrapperCalls).toBe(2);
    expect(namesOf(spans)).toEqual(['WrappedController.above', 'WrappedController.below']);
    expect(theSpan(spans, 'WrappedController.above').attributes).toMatchObject({
      'order.kind': 'wrapped',
      'nestjs.type': 'http',
      'http.route': '/wrapped/above',
    });
    expect(lens.inFlight()).toEqual([]);
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

  it('N5: a handler that calls a marked service, and another marked handler, gives one span for each', async () => {
    @Controller('orders')
    @UseInterceptors(SpanGroupInterceptor)
    @SpanGroup('orders')
    class CallingController {
      @Get()
      list(): string {
        return this.other();
      }

      @Get('other')
      other(): string {
        return 'other';
      }
    }
    const lens = await lensApp(platform).groups('orders').controllers(CallingController).start();
    await lens.get('/orders');
    const spans = await lens.spans();

    expect(namesOf(spans)).toEqual(['CallingController.list', 'CallingController.other']);
    expect(parentIdOf(theSpan(spans, 'CallingController.other'))).toBe(
      theSpan(spans, 'CallingController.list').spanContext().spanId,
    );
  });

  it('N5: a handler that calls itself gives a span for the call that it makes', async () => {
    @Controller('orders')
    class RecursiveController {
      @Get(':depth')
      @SpanGroup('orders')
      @UseInterceptors(SpanGroupInterceptor)
      dive(@Param('depth') depth: string): string {
        return depth === '0' ? 'bottom' : this.dive(String(Number(depth) - 1));
      }
    }
    const lens = await lensApp(platform).groups('orders').controllers(RecursiveController).start();

    expect((await lens.get('/orders/2')).text).toBe('bottom');
    expect(namesOf(await lens.spans())).toHaveLength(3);
  });

  it('N5, N6: the group on the class and the interceptor on it: each handler gives one span', async () => {
    @Controller('orders')
    @UseInterceptors(SpanGroupInterceptor)
    @SpanGroup('orders')
    class ClassController {
      @Get()
      list(): string {
        return 'list';
      }

      @Get('health')
      @NoSpanGroup()
      health(): string {
        return 'up';
      }
    }
    const lens = await lensApp(platform).groups('orders').controllers(ClassController).start();
    await lens.get('/orders');
    await lens.get('/orders/health');

    expect(namesOf(await lens.spans())).toEqual(['ClassController.list']);
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

  it('N6: the span takes in pipes, inner interceptors and the response; guards and outer interceptors are outside', async () => {
    @Controller('orders')
    @UseGuards(MarkingGuard)
    @UseInterceptors(markingInterceptor('outer'), SpanGroupInterceptor, markingInterceptor('inner'))
    @UsePipes(MarkingPipe)
    class WideController {
      @Get(':id')
      @SpanGroup('orders')
      one(@Param('id') id: string): Observable<string> {
        mark('handler');
        return of(id).pipe(tap(() => mark('response')));
      }
    }
    const lens = await lensApp(platform).groups('orders').controllers(WideController).start();
    await lens.get('/orders/7');
    const spans = await lens.spans();
    const handler = theSpan(spans, 'WideController.one').spanContext().spanId;
    const below = spans.filter((span) => parentIdOf(span) === handler).map((span) => span.name);
    const roots = spans.filter((span) => parentIdOf(span) === undefined).map((span) => span.name);

    expect(below.sort()).toEqual(['handler', 'inner after', 'inner before', 'pipe', 'response']);
    expect(roots.sort()).toEqual(['WideController.one', 'guard', 'outer after', 'outer before']);
  });

  it('N6: without the interceptor the span is the method, so that pipes are outside', async () => {
    @Controller('orders')
    @UsePipes(MarkingPipe)
    class NarrowController {
      @Get(':id')
      @SpanGroup('orders')
      one(@Param('id') id: string): string {
        mark('handler');
        return id;
      }
    }
    const lens = await lensApp(platform).groups('orders').controllers(NarrowController).start();
    await lens.get('/orders/7');
    const spans = await lens.spans();

    expect(parentIdOf(theSpan(spans, 'handler'))).toBe(
      theSpan(spans, 'NarrowController.one').spanContext().spanId,
    );
    expect(parentIdOf(theSpan(spans, 'pipe'))).toBeUndefined();
  });

  it.each([0, 1, 3])(
    'I9: with %i further interceptors, work after an await is below the span',
    async (count) => {
      const further = Array.from({ length: count }, () => PassThrough);
      @Controller('orders')
      @UseInterceptors(SpanGroupInterceptor, ...further)
      class AwaitingController {
        @Get('sync')
        @SpanGroup('orders')
        sync(): string {
          managedSpan('orders', 'sync child', () => undefined);
          return 'sync';
        }

        @Get('async')
        @SpanGroup('orders')
        async async(): Promise<string> {
          await nextTurn();
          await managedSpan('orders', 'async child', nextTurn);
          return 'async';
        }

        @Get('stream')
        @SpanGroup('orders')
        stream(): Observable<string> {
          return from(nextTurn()).pipe(map(() => managedSpan('orders', 'stream child', () => 'stream')));
        }
      }
      const lens = await lensApp(platform).groups('orders').controllers(AwaitingController).start();
      for (const path of ['sync', 'async', 'stream'])
        expect((await lens.get(`/orders/${path}`)).text).toBe(path);
      const spans = await lens.spans();

      for (const path of ['sync', 'async', 'stream']) {
        expect(parentIdOf(theSpan(spans, `${path} child`))).toBe(
          theSpan(spans, `AwaitingController.${path}`).spanContext().spanId,
        );
      }
    },
  );

  it('N6: an error that an inner interceptor adds or takes away is the outcome of the span', async () => {
    @Injectable()
    class Failing implements NestInterceptor {
      intercept(_context: ExecutionContext, next: CallHandler): Observable<unknown> {
        return concat(
          next.handle(),
          throwError(() => new Error('added')),
        );
      }
    }
    @Controller('orders')
    @UseInterceptors(SpanGroupInterceptor)
    class OutcomeController {
      @Get('added')
      @UseInterceptors(Failing)
      @SpanGroup('orders')
      added(): string {
        return 'fine';
      }
    }
    const lens = await lensApp(platform).groups('orders').controllers(OutcomeController).start();

    expect((await lens.get('/orders/added')).status).toBe(500);
    expect(theSpan(await lens.spans(), 'OutcomeController.added').status).toMatchObject({
      code: SpanStatusCode.ERROR,
      message: 'added',
    });
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

  it('N6: one guard class shared by many handlers gives spans of the handler that was called alone', async () => {
    @UseGuards(MarkingGuard)
    @Controller('a')
    class AController {
      @Get('one')
      @SpanGroup('orders')
      @UseInterceptors(SpanGroupInterceptor)
      one(): string {
        return 'one';
      }

      @Get('two')
      @SpanGroup('orders')
      @UseInterceptors(SpanGroupInterceptor)
      two(): string {
        return 'two';
      }
    }
    @UseGuards(MarkingGuard)
    @Controller('b')
    class BController extends AController {}
    const lens = await lensApp(platform).groups('orders').controllers(AController, BController).start();
    await lens.get('/a/two');

    expect(namesOf(await lens.spans())).toEqual(['AController.two', 'guard']);
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
});

describe('SpanGroupInterceptor by itself', () => {
  guardEachTest();

  class OrdersService {
    @SpanGroup('orders')
    list(): string {
      return 'list';
    }

    plain(): string {
      return 'plain';
    }
  }

  /** A context as a transport that Nest knows nothing of would make it: no request, no response. */
  function contextOf(
    type: string,
    handler: (...args: never[]) => unknown,
    args: unknown[] = [],
  ): ExecutionContext {
    const http = { getRequest: () => undefined, getResponse: () => undefined, getNext: () => undefined };
    return {
      getType: () => type,
      getClass: () => OrdersService,
      getHandler: () => handler,
      getArgs: () => args,
      getArgByIndex: (index: number) => args[index],
      switchToHttp: () => http,
      switchToRpc: () => ({ getData: () => undefined, getContext: () => undefined }),
      switchToWs: () => ({
        getData: () => undefined,
        getClient: () => undefined,
        getPattern: () => undefined,
      }),
    } as unknown as ExecutionContext;
  }

  async function interceptorIn(spec: string): Promise<{ lens: LensApp; interceptor: SpanGroupInterceptor }> {
    const lens = await lensApp(express).groups('orders', 'payment').spec(spec).start();
    return { lens, interceptor: lens.app.get(SpanGroupInterceptor) };
  }

  it.each([
    ['off', 'payment', OrdersService.prototype.list],
    ['of a handler in no group', 'all', OrdersService.prototype.plain],
  ])(
    'N6, I1: with the group %s, it hands back what next.handle() gave, and asks for nothing',
    async (_t, spec, handler) => {
      const { lens, interceptor } = await interceptorIn(spec);
      const handled = of('handled');
      const asked: string[] = [];
      const execution = new Proxy(contextOf('http', handler), {
        get(target, property) {
          asked.push(String(property));
          return Reflect.get(target, property) as unknown;
        },
      });

      for (let call = 0; call < 5; call += 1) {
        expect(interceptor.intercept(execution, { handle: () => handled })).toBe(handled);
      }
      expect(lens.tracker.started).toBe(0);
      expect(
        asked.filter((property) => property.startsWith('switchTo') || property.startsWith('getArg')),
      ).toEqual([]);
    },
  );

  it.each(['http', 'rpc', 'ws', 'graphql', 'custom'])(
    'N6: in a context of type %s without a request it makes a span without http attributes',
    async (type) => {
      const { lens, interceptor } = await interceptorIn('orders');
      const execution = contextOf(type, OrdersService.prototype.list);
      const result = interceptor.intercept(execution, { handle: () => of('one', 'two') });
      expect(await lastValueFrom(result)).toBe('two');
      const failed = interceptor.intercept(execution, {
        handle: () => throwError(() => new Error('down')),
      });
      await expect(lastValueFrom(failed)).rejects.toThrow('down');
      const spans = await lens.spans();

      expect(namesOf(spans)).toEqual(['OrdersService.list', 'OrdersService.list']);
      expect(lens.inFlight()).toEqual([]);
      expect(spans.map((span) => span.status.code)).toEqual([SpanStatusCode.UNSET, SpanStatusCode.ERROR]);
      for (const span of spans) {
        expect(Object.keys(span.attributes).filter((key) => key.startsWith('http.'))).toEqual([]);
        expect(Object.values(span.attributes)).not.toContain(undefined);
      }
    },
  );

  it('N6: a handler that throws before it gives an observable ends the span, and the error goes on', async () => {
    const { lens, interceptor } = await interceptorIn('orders');
    const thrown = new NotFoundException('gone');
    const call = async (): Promise<unknown> => {
      const result = interceptor.intercept(contextOf('http', OrdersService.prototype.list), {
        handle: () => {
          throw thrown;
        },
      });
      return lastValueFrom(result);
    };

    await expect(call()).rejects.toBe(thrown);
    expect(theSpan(await lens.spans(), 'OrdersService.list').status.code).toBe(SpanStatusCode.UNSET);
    expect(lens.inFlight()).toEqual([]);
  });

  it.each(['rpc', 'ws', 'graphql', 'custom'])(
    'N5, N6: run by Nest for a handler of type %s, it gives one span, ended, also when the handler fails',
    async (type) => {
      @Injectable()
      @UseInterceptors(SpanGroupInterceptor)
      class Handlers {
        @SpanGroup('orders')
        value(): string {
          return 'value';
        }

        @SpanGroup('orders')
        stream(): Observable<number> {
          return of(1, 2, 3);
        }

        @SpanGroup('orders')
        async fail(): Promise<never> {
          throw new Error('down');
        }

        @SpanGroup('orders')
        nothing(): void {}
      }
      const lens = await lensApp(express).groups('orders').providers(Handlers).start();
      const handlers = lens.app.get(Handlers);
      const run = (method: 'value' | 'stream' | 'fail' | 'nothing'): Promise<unknown> =>
        lens.app
          .get(ExternalContextCreator)
          .create(
            handlers,
            handlers[method],
            method,
            undefined,
            undefined,
            undefined,
            undefined,
            { interceptors: true, guards: false, filters: false },
            type as never,
          )(undefined, {});

      expect(await run('value')).toBe('value');
      expect(await run('stream')).toBe(3);
      await expect(run('fail')).rejects.toThrow('down');
      expect(await run('nothing')).toBeUndefined();
      const spans = await lens.spans();

      expect(namesOf(spans)).toEqual([
        'Handlers.fail',
        'Handlers.nothing',
        'Handlers.stream',
        'Handlers.value',
      ]);
      expect(lens.inFlight()).toEqual([]);
      expect(theSpan(spans, 'Handlers.fail').status.code).toBe(SpanStatusCode.ERROR);
    },
  );
});
