import { describe, expect, it } from 'vitest';
import { Controller, Get, Sse } from '@nestjs/common';
import { context, propagation } from '@opentelemetry/api';
import { managedSpan } from 'nest-lens';
import { type Observable, of } from 'rxjs';
import { express, fastify } from '../support/adapters.js';
import { diagnostics, type LensApp, lensApp, parentIdOf, theSpan } from '../support/lens-app.js';
import { guardTransportTests } from '../support/close-after-test.js';
import { type Binding, inOrders } from '../support/in-orders.js';
import { turn } from '../support/result-kinds.js';

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const CALLER = 'b7ad6b7169203331';

describe.each([express, fastify])(
  'the trace of the caller, without instrumentation-http, on $name',
  (platform) => {
    guardTransportTests();

    function start(binding: Binding): Promise<LensApp> {
      @Controller('orders')
      class OrdersController {
        @Get()
        @inOrders(binding)
        async list(): Promise<string> {
          await turn();
          return managedSpan('orders', 'inside', () => 'list');
        }

        @Sse('events')
        @inOrders(binding)
        events(): Observable<object> {
          return of({ data: 'one' });
        }
      }
      return lensApp(platform).groups('orders').controllers(OrdersController).start();
    }

    const call = (
      lens: LensApp,
      path: string,
      headers: Record<string, string>,
    ): Promise<{ status: number }> => lens.get(path, { headers });

    it.each(['/orders', '/orders/events'])(
      'N6: with the interceptor, the span of %s goes on with it',
      async (path) => {
        const lens = await start('intercepted');
        await call(lens, path, { traceparent: `00-${TRACE}-${CALLER}-01`, tracestate: 'shop=7' });
        const spans = await lens.spans();
        const handler = theSpan(
          spans,
          path === '/orders' ? 'OrdersController.list' : 'OrdersController.events',
        );

        expect(spans.map((span) => span.spanContext().traceId)).toEqual(spans.map(() => TRACE));
        expect(parentIdOf(handler)).toBe(CALLER);
        expect(handler.spanContext().traceState?.get('shop')).toBe('7');
        for (const span of spans)
          if (span !== handler) expect(parentIdOf(span)).toBe(handler.spanContext().spanId);
      },
    );

    it('N6: a caller who does not sample gets no spans', async () => {
      const lens = await start('intercepted');
      const { status } = await call(lens, '/orders', { traceparent: `00-${TRACE}-${CALLER}-00` });

      expect(status).toBe(200);
      expect(await lens.spans()).toEqual([]);
      expect(diagnostics()).toEqual([]);
    });

    it.each(['', '00-zz-zz-01', `00-${'0'.repeat(32)}-${CALLER}-01`, 'nonsense'])(
      'N6: with a traceparent that is none (%j) the span is a root',
      async (traceparent) => {
        const lens = await start('intercepted');
        await call(lens, '/orders', { traceparent });
        const span = theSpan(await lens.spans(), 'OrdersController.list');

        expect(parentIdOf(span)).toBeUndefined();
        expect(span.spanContext().traceId).not.toBe(TRACE);
        expect(diagnostics()).toEqual([]);
      },
    );

    it("N6: the caller's baggage doesn't replace what the application has put into the context", async () => {
      const seen: (string | undefined)[] = [];
      @Controller('orders')
      class OrdersController {
        @Get()
        @inOrders('intercepted')
        list(): string {
          for (const key of ['tenant', 'role'])
            seen.push(propagation.getActiveBaggage()?.getEntry(key)?.value);
          return 'list';
        }
      }
      const ofTenant = propagation.createBaggage({ tenant: { value: 'acme' } });
      const lens = await lensApp(platform)
        .groups('orders')
        .controllers(OrdersController)
        .configure((app) =>
          app.use((_request: unknown, _response: unknown, next: () => void) =>
            context.with(propagation.setBaggage(context.active(), ofTenant), next),
          ),
        )
        .start();
      await call(lens, '/orders', {
        traceparent: `00-${TRACE}-${CALLER}-01`,
        baggage: 'tenant=another,role=admin',
      });

      expect(seen).toEqual(['acme', undefined]);
      expect(parentIdOf(theSpan(await lens.spans(), 'OrdersController.list'))).toBe(CALLER);
    });

    it('N4: the decorator alone looks at no header', async () => {
      const lens = await start('decorated');
      await call(lens, '/orders', { traceparent: `00-${TRACE}-${CALLER}-01` });
      const span = theSpan(await lens.spans(), 'OrdersController.list');

      expect(parentIdOf(span)).toBeUndefined();
      expect(span.spanContext().traceId).not.toBe(TRACE);
    });
  },
);
