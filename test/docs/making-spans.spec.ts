import { describe, expect, it, vi } from 'vitest';
import type { ClientProxy } from '@nestjs/microservices';
import { context, ROOT_CONTEXT } from '@opentelemetry/api';
import { SpanRegistry, withSpan } from 'nest-lens';
import { lastValueFrom, Observable } from 'rxjs';
import { aroundSnippets, bootWith, codes, setUp } from './running-snippets.js';
import { names, plain, spansOf, tree } from './span-tree.js';

describe('docs/making-spans.md', () => {
  aroundSnippets();

  const order = { id: '7', lines: [{ price: 3, quantity: 2 }] };

  it('I1, I4, I5, I7: the sites make their spans while their groups are on', async () => {
    const { charge, nightlyReport, refund } = await import('./snippets/sites.js');
    SpanRegistry.register('shop', ['payment', 'pricing']);
    const captured = await setUp('payment,pricing');

    expect(await charge(order, { token: 'tok_1' })).toEqual({ paid: 6 });
    expect(tree((await spansOf(captured)).map(plain))).toBe('payment.charge\n  pricing.total');
    expect(captured.named('payment.charge')[0]!.attributes).toEqual({
      'nestlens.group': 'payment',
      'order.id': '7',
      'card.token': '[REDACTED]',
    });
    expect(captured.named('pricing.total')[0]!.attributes).toEqual({
      'nestlens.group': 'pricing',
      'pricing.currency': 'EUR',
    });

    captured.clear();
    expect(nightlyReport([order])).toEqual([6]);
    expect(tree((await spansOf(captured)).map(plain))).toBe('nightly-report\n  pricing.total');

    withSpan('request', () => refund(order));
    await spansOf(captured);
    expect(captured.named('request')[0]!.events.map(({ name }) => name)).toEqual(['payment.refunded']);
  });

  it('I1, I3: off, they make none and compute nothing; the ungated span is made', async () => {
    const { charge, nightlyReport, refund } = await import('./snippets/sites.js');
    SpanRegistry.register('shop', ['payment', 'pricing', 'other']);
    const captured = await setUp('other');

    expect(await charge(order, { token: 'tok_1' })).toEqual({ paid: 6 });
    expect(await spansOf(captured)).toEqual([]);
    expect(nightlyReport([order])).toEqual([6]);
    expect(names(await spansOf(captured))).toEqual(['nightly-report']);

    const stringify = vi.spyOn(JSON, 'stringify');
    withSpan('request', () => refund(order));
    expect(stringify).not.toHaveBeenCalled();
    await spansOf(captured);
    expect(captured.named('request')[0]!.events).toEqual([]);
  });

  it('N4: the decorator covers the controller and the method, but for the one that is taken out', async () => {
    const { OrderJobs, OrdersController } = await import('./snippets/span-group-decorator.js');
    const { app, url, captured } = await bootWith(
      'all',
      { controllers: [OrdersController], providers: [OrderJobs] },
      ['orders', 'order_read', 'order_jobs'],
    );
    for (const path of ['/orders', '/orders/health', '/orders/7']) await fetch(url + path);
    await app.get(OrderJobs).cleanUp();

    expect(names(await spansOf(captured))).toEqual([
      'OrderJobs.cleanUp',
      'OrdersController.list',
      'orders.read',
    ]);
    expect(captured.named('orders.read')[0]!.attributes).toMatchObject({
      'nestlens.group': 'order_read',
      'order.id': '7',
      'nestjs.type': 'http',
    });
    expect(codes()).toEqual([]);
  });

  it('N6, I12: the interceptor takes in the pipe, and continues the traceparent of the caller', async () => {
    const { ReportsController } = await import('./snippets/span-group-interceptor.js');
    const { url, captured } = await bootWith('reports', { controllers: [ReportsController] }, ['reports']);
    const traceId = '0af7651916cd43dd8448eb211c80319c';
    await fetch(`${url}/reports/2026`, {
      headers: { traceparent: `00-${traceId}-b7ad6b7169203331-01` },
    });
    expect((await fetch(`${url}/reports/last`)).status).toBe(400);

    const spans = await spansOf(captured);
    const [answered, refused] = spans;
    expect(spans).toHaveLength(2);
    expect(plain(answered!)).toMatchObject({ traceId, parentSpanId: 'b7ad6b7169203331' });
    expect(refused!.events.map(({ name }) => name)).toEqual(['exception']);
    expect(refused!.status.code).toBe(0);
  });

  it('N6: the decorator alone leaves the pipe out, and looks at no header', async () => {
    const { OrdersController } = await import('./snippets/span-group-decorator.js');
    const { url, captured } = await bootWith('orders', { controllers: [OrdersController] }, [
      'orders',
      'order_read',
    ]);
    await fetch(`${url}/orders`, {
      headers: { traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01' },
    });

    expect((await spansOf(captured)).map(plain)).toEqual([
      expect.objectContaining({ name: 'OrdersController.list', parentSpanId: null }),
    ]);
  });

  it('I8: a message carries the trace from its sender to its handler', async () => {
    const { handle, toMessage } = await import('./snippets/propagation.js');
    SpanRegistry.register('app', ['jobs']);
    const captured = await setUp('jobs');
    const message = withSpan('sender', () => toMessage('paint the fence'));

    expect(message.headers.traceparent).toMatch(/^00-/);
    expect(await handle(message)).toBe('done: paint the fence');
    expect(tree((await spansOf(captured)).map(plain))).toBe('sender\n  jobs.handle');
  });

  it('the operators behind a reply make their spans where the reply was subscribed', async () => {
    const { Checkout } = await import('./snippets/client-proxy.js');
    SpanRegistry.register('shop', ['orders']);
    const captured = await setUp('orders');
    const replies = new Observable<number>((subscriber) => {
      setImmediate(() => context.with(ROOT_CONTEXT, () => subscriber.next(7)));
      setImmediate(() => subscriber.complete());
    });
    const checkout = new Checkout({ send: () => replies } as unknown as ClientProxy);

    expect(await withSpan('request', () => lastValueFrom(checkout.place(['tea'])))).toBe(7);
    expect(tree((await spansOf(captured)).map(plain))).toBe('request\n  orders.place');
  });
});
