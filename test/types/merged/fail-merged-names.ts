// Must not compile. Each comment names the error of the next line.
import {
  defineSpanGroups,
  isSpanGroupEnabled,
  managedSpan,
  NestLensModule,
  SpanGroup,
  type SpanGroupName,
  type SpanRegistryService,
  traceFn,
} from 'nest-lens';
import { managedSpan as managedSpanOfCore } from 'nest-lens/core';

// error TS2345
managedSpan('oders', 'orders.total', () => 1);

// error TS2345
managedSpan('oders', 'orders.total', { kind: 2 }, async () => 1);

// The name of the definition is none of its groups.
// error TS2345
managedSpan('shop', 'orders.total', () => 1);

// error TS2345
managedSpanOfCore('oders', 'orders.total', () => 1);

// error TS2345
traceFn('oders', 'orders.read')(() => 1);

// error TS2345
isSpanGroupEnabled('oders');

// error TS2345
export const isOn = (registry: SpanRegistryService): boolean => registry.isEnabled('oders');

// error TS2345
@SpanGroup('oders')
export class Orders {
  // error TS2345
  @SpanGroup('oders', { name: 'orders.pay' })
  pay(): void {}
}

// error TS2322 or TS2820
NestLensModule.forFeature({ namespace: 'shop', groups: ['oders'] });

// error TS2322 or TS2820
NestLensModule.forRoot({ registrations: [{ namespace: 'shop', groups: ['oders'] }] });

// A definition that nobody has merged.
const unmerged = defineSpanGroups({ namespace: 'oders', groups: ['oders'] });
// error TS2345 or TS2322
NestLensModule.forFeature(unmerged);
// error TS2345
managedSpan(unmerged.group('oders'), 'orders.total', () => 1);

// error TS2322 or TS2820
export const name: SpanGroupName = 'oders';
