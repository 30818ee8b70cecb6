// Must not compile. Each comment names the error of the next line.
import { managedSpan, NoSpanGroup, SpanGroup, traceFn } from 'nest-lens';

// error TS18048 or TS2532
managedSpan('orders', 'orders.list', (span) => span.setAttribute('a', 1));

// error TS2554 or TS2769 or TS2575
managedSpan('orders', 'orders.list');

// error TS2322
export const count: number = managedSpan('orders', 'orders.count', async () => 1);

// error TS2345
traceFn('orders', 'orders.list')('not a function');

// error TS2554
traceFn('orders')(() => 1);

export class Handlers {
  // error TS2554
  @SpanGroup()
  withoutGroup(): void {}

  // error TS1240
  @NoSpanGroup()
  property = 1;

  // error TS2353
  @SpanGroup('orders', { attributes: { 'order.id': 1 } })
  withAttributesAtOnce(): void {}

  // error TS2353
  @SpanGroup('orders', { nmae: 'orders.list' })
  withUnknownOption(): void {}
}

// error TS2769 or TS2322
managedSpan('orders', 'orders.list', { kind: 'server' }, () => 1);
