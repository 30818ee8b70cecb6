import { expect, it } from 'vitest';
import {
  type ArgumentsHost,
  type CallHandler,
  type CanActivate,
  Catch,
  Controller,
  type ExceptionFilter,
  type ExecutionContext,
  Get,
  Injectable,
  type MiddlewareConsumer,
  Module,
  type NestInterceptor,
  type NestMiddleware,
  NotFoundException,
  Param,
  type PipeTransform,
  UseFilters,
  UseGuards,
  UseInterceptors,
  UsePipes,
} from '@nestjs/common';
import { APP_FILTER, APP_GUARD, APP_INTERCEPTOR, APP_PIPE } from '@nestjs/core';
import { SpanGroup } from 'nest-lens';
import type { Observable } from 'rxjs';
import { onEachPlatform } from '../../support/adapters.js';
import { lensApp, type LensAppBuilder, namesOf } from '../../support/lens-app.js';

/** One of each, in a group, that lets every request through. */
function enhancersIn(group: string) {
  @Injectable()
  class Guard implements CanActivate {
    @SpanGroup(group)
    canActivate(): boolean {
      return true;
    }
  }
  @Injectable()
  class Pipe implements PipeTransform {
    @SpanGroup(group)
    transform(value: unknown): unknown {
      return value;
    }
  }
  @Injectable()
  class Interceptor implements NestInterceptor {
    @SpanGroup(group)
    intercept(_context: ExecutionContext, next: CallHandler): Observable<unknown> {
      return next.handle();
    }
  }
  @Catch(NotFoundException)
  class Filter implements ExceptionFilter {
    @SpanGroup(group)
    catch(_error: unknown, host: ArgumentsHost): void {
      const response = host
        .switchToHttp()
        .getResponse<{ status(code: number): { send(text: string): void } }>();
      response.status(404).send('filtered');
    }
  }
  @Injectable()
  class Middleware implements NestMiddleware {
    @SpanGroup(group)
    use(_request: unknown, _response: unknown, next: () => void): void {
      next();
    }
  }
  return { Guard, Pipe, Interceptor, Filter, Middleware };
}
type Enhancers = ReturnType<typeof enhancersIn>;

const SITES = ['Filter.catch', 'Guard.canActivate', 'Interceptor.intercept', 'Pipe.transform'];

const plainController = (...decorators: ClassDecorator[]) => {
  @Controller('orders')
  class OrdersController {
    @Get(':id')
    read(@Param('id') id: string): string {
      throw new NotFoundException(id);
    }
  }
  for (const decorate of decorators) decorate(OrdersController);
  return OrdersController;
};

const ways: [string, (enhancers: Enhancers, builder: LensAppBuilder) => LensAppBuilder][] = [
  [
    'a controller by their classes',
    ({ Guard, Pipe, Interceptor, Filter }, builder) =>
      builder.controllers(
        plainController(UseGuards(Guard), UsePipes(Pipe), UseInterceptors(Interceptor), UseFilters(Filter)),
      ),
  ],
  [
    'a controller as instances',
    ({ Guard, Pipe, Interceptor, Filter }, builder) =>
      builder.controllers(
        plainController(
          UseGuards(new Guard()),
          UsePipes(new Pipe()),
          UseInterceptors(new Interceptor()),
          UseFilters(new Filter()),
        ),
      ),
  ],
  [
    'a handler by their classes',
    ({ Guard, Pipe, Interceptor, Filter }, builder) => {
      @Controller('orders')
      class OrdersController {
        @Get(':id')
        @UseGuards(Guard)
        @UseInterceptors(Interceptor)
        @UseFilters(Filter)
        read(@Param('id', Pipe) id: string): string {
          throw new NotFoundException(id);
        }
      }
      return builder.controllers(OrdersController);
    },
  ],
  [
    'a handler as instances',
    ({ Guard, Pipe, Interceptor, Filter }, builder) => {
      @Controller('orders')
      class OrdersController {
        @Get(':id')
        @UseGuards(new Guard())
        @UseInterceptors(new Interceptor())
        @UseFilters(new Filter())
        read(@Param('id', new Pipe()) id: string): string {
          throw new NotFoundException(id);
        }
      }
      return builder.controllers(OrdersController);
    },
  ],
  [
    'a handler of a base class as instances',
    ({ Guard, Pipe, Interceptor, Filter }, builder) => {
      class Base {
        @Get(':id')
        @UseGuards(new Guard())
        @UseInterceptors(new Interceptor())
        @UseFilters(new Filter())
        read(@Param('id', new Pipe()) id: string): string {
          throw new NotFoundException(id);
        }
      }
      @Controller('orders')
      class OrdersController extends Base {}
      return builder.controllers(OrdersController);
    },
  ],
  [
    'the application by the tokens of Nest',
    ({ Guard, Pipe, Interceptor, Filter }, builder) =>
      builder
        .controllers(plainController())
        .providers(
          { provide: APP_GUARD, useClass: Guard },
          { provide: APP_PIPE, useClass: Pipe },
          { provide: APP_INTERCEPTOR, useClass: Interceptor },
          { provide: APP_FILTER, useClass: Filter },
        ),
  ],
  [
    'the application as instances',
    ({ Guard, Pipe, Interceptor, Filter }, builder) =>
      builder.controllers(plainController()).configure((app) => {
        app.useGlobalGuards(new Guard());
        app.useGlobalPipes(new Pipe());
        app.useGlobalInterceptors(new Interceptor());
        app.useGlobalFilters(new Filter());
      }),
  ],
];

onEachPlatform('guards, pipes, interceptors and filters', (platform) => {
  it.each(ways)('N7: bound to %s, they emit and are sites', async (_title, bind) => {
    const lens = await bind(enhancersIn('pipeline'), lensApp(platform).groups('pipeline')).start();
    expect((await lens.get('/orders/7')).text).toBe('filtered');
    const [pipeline] = (await lens.get('/lens/groups?sites=1')).json().groups;

    expect(namesOf(await lens.spans())).toEqual(expect.arrayContaining(SITES));
    expect(pipeline.siteList.map(({ name }: { name: string }) => name)).toEqual(SITES);
  });

  it.each(ways)(
    'W9: bound to %s, those whose group nobody registered are warned about',
    async (_title, bind) => {
      const lens = await bind(enhancersIn('pipelin'), lensApp(platform).groups('pipeline')).start();

      expect(lens.warnings.map(({ code, details }) => [code, details.site])).toEqual(
        SITES.map((site) => ['UNKNOWN_GROUP_AT_SITE', site]),
      );
    },
  );

  it.each(['pipeline', 'pipelin'])(
    'N7, W9: middleware of group %s is a site, and its group is checked',
    async (group) => {
      const { Middleware } = enhancersIn(group);
      @Module({})
      class WithMiddleware {
        configure(consumer: MiddlewareConsumer): void {
          consumer.apply(Middleware).forRoutes('orders/:id');
        }
      }
      const lens = await lensApp(platform)
        .groups('pipeline')
        .imports(WithMiddleware)
        .controllers(plainController())
        .start();
      await lens.get('/orders/7');
      const [pipeline] = (await lens.get('/lens/groups?sites=1')).json().groups;

      const isKnown = group === 'pipeline';
      expect(namesOf(await lens.spans())).toEqual(isKnown ? ['Middleware.use'] : []);
      expect(pipeline.sites).toBe(isKnown ? 1 : 0);
      expect(lens.warnings.map(({ details }) => details.site)).toEqual(isKnown ? [] : ['Middleware.use']);
    },
  );
});
