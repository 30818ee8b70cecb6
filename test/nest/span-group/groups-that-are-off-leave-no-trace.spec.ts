import { describe, expect, it, vi } from 'vitest';
import { Controller, Get, Inject, Injectable, UseInterceptors } from '@nestjs/common';
import { trace } from '@opentelemetry/api';
import type { Tracer } from '@opentelemetry/api';
import {
  extractContext,
  injectContext,
  managedSpan,
  NestLensModule,
  SpanGroup,
  SpanGroupInterceptor,
  traceFn,
} from 'nest-lens';
import { from } from 'rxjs';
import type { Observable } from 'rxjs';
import { map } from 'rxjs/operators';
import { onEachPlatform } from '../../support/adapters.js';
import { diagnostics, everythingSaid, lensApp, parentIdOf } from '../../support/lens-app.js';

const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** The layers of one request, from the outside in, each in the group of its name. */
const LAYERS = ['web', 'service', 'store', 'query'] as const;
type Layer = (typeof LAYERS)[number];

const SPAN_OF: Record<Layer, string> = {
  web: 'OrdersController.list',
  service: 'OrdersService.list',
  store: 'store',
  query: 'query',
};

const carriers: Partial<Record<Layer, Record<string, string>>> = {};

function propagate(layer: Layer): void {
  const carrier: Record<string, string> = {};
  injectContext(carrier);
  carriers[layer] = carrier;
}

const query = traceFn(
  'query',
  'query',
)(async (): Promise<string> => {
  propagate('query');
  await nextTurn();
  return 'rows';
});

@Injectable()
class OrdersService {
  @SpanGroup('service')
  async list(): Promise<string> {
    await nextTurn();
    propagate('service');
    return managedSpan('store', 'store', async () => {
      propagate('store');
      await nextTurn();
      return query();
    });
  }
}

@Controller('orders')
class OrdersController {
  constructor(@Inject(OrdersService) private readonly orders: OrdersService) {}

  @Get()
  @SpanGroup('web')
  async list(): Promise<string> {
    propagate('web');
    return this.orders.list();
  }
}

@Controller('orders')
@UseInterceptors(SpanGroupInterceptor)
class InterceptedController {
  constructor(@Inject(OrdersService) private readonly orders: OrdersService) {}

  @Get()
  @SpanGroup('web', { name: 'OrdersController.list' })
  list(): Observable<string> {
    propagate('web');
    return from(this.orders.list()).pipe(map((rows) => rows));
  }
}

/** Every choice of layers. */
const choices: Layer[][] = Array.from({ length: 2 ** LAYERS.length }, (_, bits) =>
  LAYERS.filter((_layer, index) => (bits & (1 << index)) !== 0),
);

const spanIdIn = (carrier: Record<string, string> | undefined): string | undefined => {
  if (carrier === undefined) throw new Error('the layer did not run');
  const active = trace.getSpanContext(extractContext(carrier));
  return active?.spanId;
};

onEachPlatform('groups that are off', (platform) => {
  describe.each([
    ['the decorator', OrdersController],
    ['the interceptor', InterceptedController],
  ] as const)('with %s', (_title, controller) => {
    it.each(choices.map((on) => [on.join(',') || 'none', on] as const))(
      'I11: with %s on, spans and propagation attach to the nearest enabled ancestor',
      async (_names, on) => {
        for (const layer of LAYERS) delete carriers[layer];
        const lens = await lensApp(platform)
          .groups(...LAYERS, 'other')
          .spec([...on, 'other'].join(','))
          .providers(OrdersService)
          .controllers(controller)
          .start();
        expect((await lens.get('/orders')).text).toBe('rows');
        const spans = await lens.spans();
        const idOf = (layer: Layer): string | undefined =>
          spans.find((span) => span.name === SPAN_OF[layer])?.spanContext().spanId;

        expect(spans.map((span) => span.name).sort()).toEqual(on.map((layer) => SPAN_OF[layer]).sort());
        expect(lens.tracker.started).toBe(on.length);
        for (const [index, layer] of LAYERS.entries()) {
          const ancestors = LAYERS.slice(0, index).filter((ancestor) => on.includes(ancestor));
          const nearest = ancestors.at(-1);
          if (on.includes(layer)) {
            const span = spans.find((candidate) => candidate.name === SPAN_OF[layer])!;
            expect(parentIdOf(span)).toBe(nearest === undefined ? undefined : idOf(nearest));
          }
          const carried = on.includes(layer) ? layer : nearest;
          expect(spanIdIn(carriers[layer])).toBe(carried === undefined ? undefined : idOf(carried));
        }
        const exported = new Set(spans.map((span) => span.spanContext().spanId));
        for (const span of spans) {
          const parent = parentIdOf(span);
          expect(parent === undefined || exported.has(parent)).toBe(true);
        }
      },
    );
  });

  it('I1, I11: a hundred polls of a handler that is off: no span, no tracer asked, no attribute computed, no output', async () => {
    let computed = 0;
    @Controller('health')
    @UseInterceptors(SpanGroupInterceptor)
    class HealthController {
      @Get()
      @SpanGroup('health', {
        attributes: () => {
          computed += 1;
          return {};
        },
      })
      check(): string {
        return 'up';
      }
    }
    const lens = await lensApp(platform)
      .groups('health', 'orders')
      .spec('orders')
      .controllers(HealthController)
      .start();
    const write = (stream: NodeJS.WriteStream) => vi.spyOn(stream, 'write').mockImplementation(() => true);
    const outputs = [write(process.stdout), write(process.stderr)];
    const logs = (['log', 'info', 'warn', 'error', 'debug'] as const).map((method) =>
      vi.spyOn(console, method).mockImplementation(() => undefined),
    );
    const provider = (
      trace.getTracerProvider() as unknown as { getDelegate(): { getTracer(): Tracer } }
    ).getDelegate();
    const tracers = vi.spyOn(provider, 'getTracer');
    try {
      for (let poll = 0; poll < 100; poll += 1) expect((await lens.get('/health')).text).toBe('up');

      expect(outputs.map((output) => output.mock.calls.length)).toEqual([0, 0]);
      expect(logs.map((log) => log.mock.calls.length)).toEqual([0, 0, 0, 0, 0]);
      expect(tracers).not.toHaveBeenCalled();
    } finally {
      for (const spy of [...outputs, ...logs, tracers]) spy.mockRestore();
    }
    expect(computed).toBe(0);
    expect(lens.tracker.started).toBe(0);
    expect(diagnostics()).toEqual([]);
    expect(everythingSaid()).toEqual([]);
  });

  it('T1: telemetry disabled: routes answer, nothing is made', async () => {
    const builder = lensApp(platform);
    const lens = await builder
      .imports(
        NestLensModule.forRoot(
          builder.moduleOptions({
            registrations: [{ namespace: 'shop', groups: [...LAYERS] }],
            config: { enabled: false, spanGroups: 'all' },
          }),
        ),
      )
      .providers(OrdersService)
      .controllers(OrdersController)
      .start();

    expect((await lens.get('/orders')).text).toBe('rows');
    expect(lens.tracker.started).toBe(0);
    await lens.close();
    expect(lens.exporter.spans).toEqual([]);
    expect(everythingSaid()).toEqual([]);
  });
});
