import { describe, expect, it } from 'vitest';
import { Injectable, NotFoundException, UseInterceptors } from '@nestjs/common';
import type { ExecutionContext } from '@nestjs/common';
import { ExternalContextCreator } from '@nestjs/core';
import { SpanStatusCode } from '@opentelemetry/api';
import { SpanGroup, SpanGroupInterceptor } from 'nest-lens';
import { lastValueFrom, of, throwError, type Observable } from 'rxjs';
import { express } from '../../support/adapters.js';
import { guardEachTest, lensApp, namesOf, theSpan, type LensApp } from '../../support/lens-app.js';

describe('SpanGroupInterceptor, called by hand and by Nest for any type of context', () => {
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
