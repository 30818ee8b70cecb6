import { expect, it } from 'vitest';
import { Controller, Get, Injectable, Param, UseGuards, UseInterceptors, UsePipes } from '@nestjs/common';
import type {
  CallHandler,
  CanActivate,
  ExecutionContext,
  NestInterceptor,
  PipeTransform,
  Type,
} from '@nestjs/common';
import { SpanStatusCode, trace } from '@opentelemetry/api';
import { managedSpan, SpanGroup, SpanGroupInterceptor } from 'nest-lens';
import { concat, from, of, throwError, type Observable } from 'rxjs';
import { map, tap } from 'rxjs/operators';
import { onEachPlatform } from '../../support/adapters.js';
import { lensApp, parentIdOf, theSpan } from '../../support/lens-app.js';

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

onEachPlatform('the span of a handler with the interceptor', (platform) => {
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
});
