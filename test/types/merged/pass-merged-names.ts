// Must compile: groups are named without an import of the definition.
import {
  isSpanGroupEnabled,
  managedSpan,
  NestLensModule,
  NoSpanGroup,
  SpanGroup,
  type SpanGroupName,
  type SpanRegistryService,
  traceFn,
} from 'nest-lens';
import { managedSpan as managedSpanOfCore, SpanRegistry } from 'nest-lens/core';
import { shop } from './group-names.js';

export const total: number = managedSpan('orders', 'orders.total', () => 1);
export const read = traceFn('cache_read', 'cache.read')((key: string) => key);
export const isOn: boolean = isSpanGroupEnabled('payment');
// Both entries, and a definition that is at hand.
export const other: number = managedSpanOfCore(shop.group('payment'), 'payment.total', () => 1);
export const isInjectedOn = (registry: SpanRegistryService): boolean => registry.isEnabled('orders');

@SpanGroup('orders')
export class Orders {
  @SpanGroup('payment', { name: 'orders.pay' })
  pay(): void {}

  @NoSpanGroup()
  health(): void {}
}

NestLensModule.forRoot({ registrations: [shop] });
NestLensModule.forFeature({ namespace: 'cache', groups: ['cache_read'] });

const name: SpanGroupName = 'cache_read';
export const all: 'orders' | 'payment' | 'cache_read' = name as SpanGroupName;
// The registry itself takes any name: who registers what only the run knows does it here.
SpanRegistry.register('plugins', ['anything']);
