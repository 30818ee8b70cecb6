import { describe, expect, it } from 'vitest';
import { Controller, type ExecutionContext, Get, Post, type Type } from '@nestjs/common';
import { SpanGroup, SpanGroupInterceptor } from 'nest-lens';
import { lastValueFrom, of } from 'rxjs';
import { express } from '../../support/adapters.js';
import { guardEachTest, lensApp } from '../../support/lens-app.js';

describe('the route in the span of a handler', () => {
  guardEachTest();

  class Listing {
    @Get()
    @SpanGroup('orders')
    list(): string {
      return 'list';
    }
  }
  @Controller('a')
  class AController extends Listing {}
  @Controller('b')
  class BController extends Listing {}

  const direct = (Class: Type<Listing>): void => void new Class().list();

  const interceptor = new SpanGroupInterceptor();
  async function intercepted(Class: Type<Listing>): Promise<void> {
    const execution = {
      getType: () => 'http',
      getClass: () => Class,
      getHandler: () => Class.prototype.list as unknown,
      getArgByIndex: () => undefined,
    } as unknown as ExecutionContext;
    await lastValueFrom(interceptor.intercept(execution, { handle: () => of('list') }));
  }

  it.each<[string, (Class: Type<Listing>) => unknown]>([
    ['as the decorator makes it', direct],
    ['as the interceptor makes it', intercepted],
  ])('I10: %s, comes and goes with the applications that serve it', async (_title, callOn) => {
    const first = await lensApp(express).groups('orders').start();
    const routes = async (): Promise<unknown[]> => {
      const { length } = await first.spans();
      for (const Class of [BController, AController, BController]) await callOn(Class);
      return (await first.spans()).slice(length).map(({ attributes }) => attributes['http.route']);
    };
    expect(await routes()).toEqual([undefined, undefined, undefined]);

    const second = await lensApp(express).groups('orders').controllers(AController, BController).start();
    expect(await routes()).toEqual(['/b', '/a', '/b']);
    await second.close();
    expect(await routes()).toEqual([undefined, undefined, undefined]);
  });

  it('I10: is missing if the handler has several', async () => {
    @Controller('many')
    class ManyController {
      @Get(['one', 'other'])
      @SpanGroup('orders')
      list(): string {
        return 'list';
      }

      @Post()
      @SpanGroup('orders')
      add(): string {
        return 'added';
      }
    }
    const lens = await lensApp(express).groups('orders').controllers(ManyController).start();
    await lens.get('/many/other');
    await lens.post('/many');

    const spans = await lens.spans();
    expect(spans.map(({ name, attributes }) => [name, attributes['http.route']])).toEqual([
      ['ManyController.list', undefined],
      ['ManyController.add', '/many'],
    ]);
  });
});
