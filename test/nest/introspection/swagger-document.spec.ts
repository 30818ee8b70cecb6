import { expect, it } from 'vitest';
import {
  Body,
  Controller,
  Delete,
  Get,
  Header,
  HttpCode,
  Param,
  ParseIntPipe,
  Post,
  Query,
  Sse,
  type Type,
  UseInterceptors,
  Version,
  VersioningType,
} from '@nestjs/common';
import {
  ApiBearerAuth,
  ApiBody,
  ApiExcludeEndpoint,
  ApiHeader,
  ApiOperation,
  ApiParam,
  ApiProperty,
  ApiQuery,
  ApiResponse,
  ApiTags,
  DocumentBuilder,
  type OpenAPIObject,
  SwaggerModule,
} from '@nestjs/swagger';
import { NoSpanGroup, SpanGroup, SpanGroupInterceptor } from 'nest-lens';
import { type Observable, of } from 'rxjs';
import { onEachPlatform } from '../../support/adapters.js';
import { lensApp, type LensAppBuilder, namesOf } from '../../support/lens-app.js';

type Place = 'nowhere' | 'above' | 'between' | 'below' | 'class above' | 'class below';

class NewOrder {
  @ApiProperty({ minimum: 1 })
  quantity!: number;

  @ApiProperty({ enum: ['tea', 'coffee'] })
  product!: string;
}

class Order extends NewOrder {
  @ApiProperty()
  id!: number;
}

/** The same controllers, with our decorators at one place of all that they may stand at. */
function shopWith(place: Place): Type<unknown>[] {
  const at = (here: Place): MethodDecorator & ClassDecorator =>
    here === place ? SpanGroup('orders') : () => undefined;
  const intercepted: MethodDecorator & ClassDecorator =
    place === 'nowhere' ? () => undefined : UseInterceptors(SpanGroupInterceptor);
  const out: MethodDecorator = place === 'nowhere' ? () => undefined : NoSpanGroup();

  class Readable {
    @at('above')
    @ApiOperation({ summary: 'Reads one', operationId: 'readOne' })
    @ApiParam({ name: 'id', description: 'of the order' })
    @at('between')
    @ApiResponse({ status: 200, type: Order })
    @ApiResponse({ status: 404, description: 'there is none' })
    @Get(':id')
    @at('below')
    one(@Param('id', ParseIntPipe) id: number): object {
      return { id };
    }
  }

  @at('class above')
  @ApiTags('orders')
  @ApiBearerAuth()
  @intercepted
  @Controller('orders')
  @at('class below')
  class OrdersController extends Readable {
    @at('above')
    @Get()
    @at('between')
    @ApiQuery({ name: 'by', required: false })
    @ApiResponse({ status: 200, type: [Order] })
    @at('below')
    list(@Query('by') by?: string): object[] {
      return [{ by }];
    }

    @ApiBody({ type: NewOrder })
    @at('above')
    @ApiHeader({ name: 'x-request-id' })
    @Post()
    @HttpCode(202)
    @Header('x-seen', 'yes')
    @at('below')
    @ApiResponse({ status: 202, type: Order })
    place(@Body() order: NewOrder): NewOrder {
      return order;
    }

    @at('above')
    @Version('2')
    @ApiOperation({ deprecated: true })
    @at('between')
    @Delete(':id')
    cancel(@Param('id') id: string): string {
      return id;
    }

    @ApiExcludeEndpoint()
    @at('below')
    @Get('hidden/:id')
    hidden(): string {
      return 'hidden';
    }

    @out
    @Get('health/check')
    health(): string {
      return 'up';
    }

    @Sse('events/all')
    @at('below')
    events(): Observable<object> {
      return of({ data: 'a' });
    }
  }
  return [OrdersController];
}

onEachPlatform("Swagger's document", (platform) => {
  /** The document that the application serves. */
  async function documentOf(builder: LensAppBuilder): Promise<OpenAPIObject> {
    const lens = await builder
      .configure((app) => {
        app.setGlobalPrefix('api');
        app.enableVersioning({ type: VersioningType.URI, defaultVersion: '1' });
        const document = SwaggerModule.createDocument(app, new DocumentBuilder().setTitle('Shop').build());
        SwaggerModule.setup('docs', app, document, { ui: false, raw: ['json'] });
      })
      .start();
    const reply = await lens.get('/docs-json');
    await lens.close();
    return reply.json() as OpenAPIObject;
  }

  const places: Place[] = ['above', 'between', 'below', 'class above', 'class below'];

  it.each(places)(
    'N4, N7: with our decorators %s it is what it is without them and without NestLens',
    async (place) => {
      const plain = await documentOf(lensApp(platform).controllers(...shopWith('nowhere')));
      const marked = await documentOf(
        lensApp(platform)
          .groups('orders')
          .controllers(...shopWith(place)),
      );

      expect(Object.keys(plain.paths).sort()).toEqual([
        '/api/v1/orders',
        '/api/v1/orders/events/all',
        '/api/v1/orders/health/check',
        '/api/v1/orders/{id}',
        '/api/v2/orders/{id}',
      ]);
      expect(plain.paths['/api/v1/orders']?.post?.requestBody).toBeDefined();
      expect(marked).toEqual(plain);
    },
  );

  it('N4: the handlers of those documents make spans', async () => {
    const lens = await lensApp(platform)
      .groups('orders')
      .controllers(...shopWith('class above'))
      .start();
    for (const path of ['/orders', '/orders/7', '/orders/hidden/7', '/orders/health/check']) {
      expect((await lens.get(path)).status).toBe(200);
    }

    expect(namesOf(await lens.spans())).toEqual([
      'OrdersController.hidden',
      'OrdersController.list',
      'OrdersController.one',
    ]);
  });

  it('N7: the routes of /lens/groups are left out, those that write too', async () => {
    class Open {
      canActivate(): boolean {
        return true;
      }
    }
    const document = await documentOf(
      lensApp(platform)
        .groups('orders')
        .forRoot({ introspection: { guards: [Open], runtimeControl: true } }),
    );

    expect(document.paths).toEqual({});
    expect(document.components).toEqual({ schemas: {} });
  });
});
