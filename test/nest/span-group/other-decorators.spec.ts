import { expect, it } from 'vitest';
import {
  applyDecorators,
  Controller,
  createParamDecorator,
  Get,
  Header,
  HttpCode,
  Injectable,
  NotFoundException,
  Param,
  ParseIntPipe,
  Query,
  SetMetadata,
  type Type,
  UseFilters,
  UseGuards,
  UseInterceptors,
  UsePipes,
} from '@nestjs/common';
import type {
  ArgumentsHost,
  CallHandler,
  CanActivate,
  ExceptionFilter,
  ExecutionContext,
  NestInterceptor,
  PipeTransform,
} from '@nestjs/common';
import { DiscoveryModule, DiscoveryService, Reflector } from '@nestjs/core';
import { SpanGroup, SpanGroupInterceptor } from 'nest-lens';
import { map, type Observable } from 'rxjs';
import { onEachPlatform } from '../../support/adapters.js';
import { lensApp, type LensApp, namesOf } from '../../support/lens-app.js';

type Place = 'nowhere' | 'above' | 'between' | 'below' | 'on the class, above' | 'on the class, below';

const places: Place[] = ['above', 'between', 'below', 'on the class, above', 'on the class, below'];

const Roles = Reflector.createDecorator<string[]>();
const Marked = DiscoveryService.createDecorator<{ name: string }>();
const Cached = (key: string): MethodDecorator => SetMetadata('cache-key', key);
const Documented = (text: string): MethodDecorator =>
  applyDecorators(SetMetadata('text', text), Header('x-text', text), HttpCode(203));

/** What the enhancers of one call have read. */
interface Seen {
  readonly roles: unknown;
  readonly ofClass: unknown;
  readonly key: unknown;
  readonly text: unknown;
  readonly handler: string;
  readonly Class: string;
}

@Injectable()
class ReadingGuard implements CanActivate {
  static readonly seen: Seen[] = [];

  constructor(private readonly reflector: Reflector) {}

  canActivate(context: ExecutionContext): boolean {
    const targets = [context.getHandler(), context.getClass()];
    ReadingGuard.seen.push({
      roles: this.reflector.getAllAndOverride(Roles, targets),
      ofClass: this.reflector.getAllAndMerge('tags', targets),
      key: this.reflector.get('cache-key', context.getHandler()),
      text: this.reflector.get('text', context.getHandler()),
      handler: context.getHandler().name,
      Class: context.getClass().name,
    });
    return context.switchToHttp().getRequest().headers['x-role'] !== 'nobody';
  }
}

class Doubling implements PipeTransform {
  transform(value: unknown): unknown {
    return typeof value === 'number' ? value * 2 : value;
  }
}

class Wrapping implements NestInterceptor {
  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const key: unknown = Reflect.getMetadata('cache-key', context.getHandler());
    return next.handle().pipe(map((value) => ({ key, value })));
  }
}

class Answering implements ExceptionFilter {
  catch(error: Error, host: ArgumentsHost): void {
    host.switchToHttp().getResponse().status(410).send({ filtered: error.message });
  }
}

/** Reads the metadata of the handler that it is a parameter of. */
const Who = createParamDecorator((prefix: string, context: ExecutionContext) => {
  const roles = new Reflector().get(Roles, context.getHandler()) as string[] | undefined;
  return `${prefix}:${roles?.join('+')}:${context.switchToHttp().getRequest().headers['x-role'] ?? 'anybody'}`;
});

/** The same controller with ours at one place among the decorators of others. */
function shopWith(place: Place, path = 'orders'): Type<unknown> {
  const at = (here: Place): MethodDecorator & ClassDecorator =>
    here === place ? SpanGroup('orders') : () => undefined;

  class Base {
    @at('above')
    @Roles(['inherited'])
    @at('between')
    @Get('inherited/:id')
    @Cached('base')
    @at('below')
    inherited(@Param('id', ParseIntPipe) id: number, @Who('base') who: string): object {
      return { id, who };
    }
  }

  @at('on the class, above')
  @SetMetadata('tags', ['class'])
  @UseGuards(ReadingGuard)
  @Controller(path)
  @at('on the class, below')
  class OrdersController extends Base {
    @at('above')
    @Roles(['admin'])
    @SetMetadata('tags', ['method'])
    @UseInterceptors(Wrapping)
    @at('between')
    @UsePipes(Doubling)
    @Documented('one order')
    @Get(':id')
    @Cached('one')
    @at('below')
    one(@Param('id', ParseIntPipe) id: number, @Query('by') by: string, @Who('one') who: string): object {
      return { id, by, who };
    }

    @at('above')
    @UseFilters(Answering)
    @at('between')
    @Get('gone/:id')
    @Roles([])
    @at('below')
    gone(@Param('id') id: string): never {
      throw new NotFoundException(id);
    }

    @Marked({ name: 'found' })
    @at('above')
    @Get('discovered/one')
    @at('between')
    @at('below')
    discovered(): string {
      return 'discovered';
    }
  }
  return OrdersController;
}

onEachPlatform('the decorators of others beside ours', (platform) => {
  /** What clients get, what enhancers read, and which methods discovery finds. */
  async function behaviourOf(lens: LensApp): Promise<object> {
    ReadingGuard.seen.length = 0;
    const replies = [];
    for (const [path, role] of [
      ['/orders/7?by=name', 'admin'],
      ['/orders/seven', 'admin'],
      ['/orders/gone/7', 'admin'],
      ['/orders/inherited/7', 'anyone'],
      ['/orders/7', 'nobody'],
      ['/orders/discovered/one', 'admin'],
    ] as const) {
      const { status, headers, text } = await lens.get(path, { headers: { 'x-role': role } });
      replies.push({ path, status, text, header: headers['x-text'] });
    }
    const discovery = lens.app.get(DiscoveryService);
    const [wrapper] = discovery
      .getControllers()
      .filter(({ metatype }) => metatype?.name === 'OrdersController');
    const marked = ['discovered', 'one'].map((method) =>
      discovery.getMetadataByDecorator(Marked, wrapper!, method),
    );
    return { replies, seen: [...ReadingGuard.seen], marked };
  }

  const spans = [
    'OrdersController.discovered',
    'OrdersController.gone',
    'OrdersController.inherited',
    'OrdersController.one',
  ];

  it.each(places)(
    'N4: with ours %s, guards, interceptors, pipes, filters, parameters and discovery see what they see without it',
    async (place) => {
      const plain = await lensApp(platform).imports(DiscoveryModule).controllers(shopWith('nowhere')).start();
      const expected = await behaviourOf(plain);
      await plain.close();
      const lens = await lensApp(platform)
        .groups('orders')
        .imports(DiscoveryModule)
        .controllers(shopWith(place))
        .start();

      expect(await behaviourOf(lens)).toEqual(expected);
      expect(expected).toMatchObject({
        replies: [
          { status: 203, header: 'one order', text: expect.stringContaining('one:admin:admin') },
          { status: 400 },
          { status: 410, text: '{"filtered":"7"}' },
          { status: 200, text: expect.stringContaining('base:inherited:anyone') },
          { status: 403 },
          { status: 200 },
        ],
        seen: expect.arrayContaining([
          {
            roles: ['admin'],
            ofClass: ['method', 'class'],
            key: 'one',
            text: 'one order',
            handler: 'one',
            Class: 'OrdersController',
          },
        ]),
        marked: [{ name: 'found' }, undefined],
      });
      expect(namesOf(await lens.spans())).toEqual(spans);
    },
  );

  it('N4, N6: enhancers that several controllers share stay as they were, methods and all', async () => {
    const shared = [ReadingGuard, Wrapping, Doubling, Answering, SpanGroupInterceptor];
    const describe = (): unknown[] =>
      shared.map(({ prototype }) => [
        prototype,
        Object.getOwnPropertyDescriptors(prototype),
        Reflect.getMetadataKeys(prototype),
      ]);
    const before = describe();
    const lens = await lensApp(platform)
      .groups('orders')
      .imports(DiscoveryModule)
      .controllers(shopWith('on the class, above'), shopWith('above', 'more'))
      .start();
    await behaviourOf(lens);

    expect(describe()).toEqual(before);
  });
});
