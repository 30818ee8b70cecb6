import { beforeEach, describe, expect, it } from '@jest/globals';
import { Controller, Get, UseInterceptors } from '@nestjs/common';
import { lastValueFrom, of } from 'rxjs';
import {
  clearSpanGroupOverride,
  overrideSpanGroups,
  setSpanGroupSpec,
  SpanGroup,
  SpanGroupInterceptor,
  SpanRegistry,
} from 'nest-lens';
import { type CapturedSpans, captureSpans } from '../../support/capture-spans.js';
import { onEachPlatform } from '../../support/adapters.js';
import { lensApp, namesOf } from '../../support/lens-app.js';

onEachPlatform('a call that a span covers already', (platform) => {
  it('N5: an intercepted handler that calls the one it overrides gives one span', async () => {
    @SpanGroup('orders')
    class Base {
      @Get('page')
      page(): string {
        return 'page';
      }
    }
    @UseInterceptors(SpanGroupInterceptor)
    @SpanGroup('orders')
    @Controller('a')
    class SubController extends Base {
      @Get('page')
      override page(): string {
        return super.page();
      }
    }
    const lens = await lensApp(platform).groups('orders').controllers(SubController).start();

    expect((await lens.get('/a/page')).text).toBe('page');
    expect(namesOf(await lens.spans())).toEqual(['SubController.page']);
  });
});

describe('a decorated method', () => {
  let spans: CapturedSpans;
  beforeEach(() => {
    spans = captureSpans();
  });

  it('N4: of another object is another call, though it is of the base class', () => {
    SpanRegistry.register('shop', ['orders']);
    setSpanGroupSpec('orders');
    @SpanGroup('orders')
    class Store {
      read(): string {
        return 'stored';
      }
    }
    @SpanGroup('orders')
    class CachedStore extends Store {
      constructor(private readonly inner: Store) {
        super();
      }
      override read(): string {
        return this.inner.read();
      }
    }

    expect(new CachedStore(new CachedStore(new Store())).read()).toBe('stored');
    expect(spans.names()).toEqual(['Store.read', 'CachedStore.read', 'CachedStore.read']);
  });

  it('T6, I9: makes no span for a subscription that comes when the group is off', async () => {
    SpanRegistry.register('shop', ['orders']);
    setSpanGroupSpec('orders');
    class Prices {
      @SpanGroup('orders')
      live() {
        return of(1, 2);
      }
    }
    const prices = new Prices().live();
    await lastValueFrom(prices);
    overrideSpanGroups('');
    expect(await lastValueFrom(prices)).toBe(2);
    clearSpanGroupOverride();
    await lastValueFrom(prices);

    expect(spans.all()).toHaveLength(2);
  });

  it('I10: no attribute of the site can hide the group', () => {
    SpanRegistry.register('shop', ['orders']);
    setSpanGroupSpec('orders');
    class Orders {
      @SpanGroup('orders', { attributes: () => ({ 'nestlens.group': 'another' }) })
      place(): void {}
    }
    new Orders().place();

    expect(spans.only().attributes['nestlens.group']).toBe('orders');
  });
});
