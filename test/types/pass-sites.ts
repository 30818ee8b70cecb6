// Must compile: handlers, methods and blocks in span groups.
import { Controller, Get, Injectable, Param, UseInterceptors } from '@nestjs/common';
import { SpanKind } from '@opentelemetry/api';
import {
  managedSpan,
  NoSpanGroup,
  safeSetSpanAttributes,
  SpanGroup,
  SpanGroupInterceptor,
  type SpanRegistryService,
  traceFn,
  withSpan,
} from 'nest-lens';
import { type Observable, of } from 'rxjs';

@SpanGroup('orders')
@UseInterceptors(SpanGroupInterceptor)
@Controller('orders')
export class OrdersController {
  @SpanGroup('orders', { attributes: (id: string) => ({ 'order.id': id }), kind: SpanKind.SERVER })
  @Get(':id')
  async read(@Param('id') id: string): Promise<string> {
    return id;
  }

  @Get()
  @SpanGroup('orders', { name: 'orders.list' })
  list(): Observable<number> {
    return of(1);
  }

  @NoSpanGroup()
  @Get('health')
  health(): string {
    return 'ok';
  }
}

@Injectable()
export class StockService {
  constructor(private readonly registry: SpanRegistryService) {}

  @SpanGroup('stock')
  async *changes(): AsyncGenerator<number> {
    yield this.registry.groups().size;
  }

  static readonly [Symbol.species] = StockService;
}

export const promised: Promise<number> = managedSpan('stock', 'stock.count', async () => 1);
export const optioned: string = managedSpan(
  'stock',
  'stock.name',
  { attributes: () => ({ a: [1, 2] }) },
  (span) => {
    safeSetSpanAttributes(span, { anything: new Map() }, { redactKeys: ['card'] });
    return span?.spanContext().spanId ?? '';
  },
);
export const traced: (a: number, b?: string) => string = traceFn(
  'stock',
  'stock.format',
)((a: number, b?: string) => `${a}${b ?? ''}`);
export const ungated: number = withSpan('start', (span) => (span.isRecording() ? 1 : 0));
