import { expect, it } from 'vitest';
import { Controller, Get, Param, UseGuards, UseInterceptors } from '@nestjs/common';
import type { CanActivate } from '@nestjs/common';
import { trace } from '@opentelemetry/api';
import { NoSpanGroup, SpanGroup, SpanGroupInterceptor } from 'nest-lens';

import { onEachPlatform } from '../../support/adapters.js';
import { lensApp, namesOf, parentIdOf, theSpan } from '../../support/lens-app.js';

/** Leaves a span at the place where it is called: its parent tells what was active there. */
const mark = (name: string): void => trace.getTracer('test').startSpan(name).end();

class MarkingGuard implements CanActivate {
  canActivate(): boolean {
    mark('guard');
    return true;
  }
}

onEachPlatform('one span a call, with the interceptor', (platform) => {
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
});
