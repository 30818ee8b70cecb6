/**
 * Never executed. Its purpose is to fail the type check when a signature of the public API changes, or when one of the
 * fallbacks differs from the real one (F4).
 */
import type { Span } from '@opentelemetry/api';
import type * as lens from 'nest-lens';
import * as core from 'nest-lens/core';
import * as fallbacks from 'nest-lens/fallbacks';

/** True for the same type only: neither a wider nor a narrower one. */
type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
const same = <A, B>(..._proof: Same<A, B> extends true ? [] : ['the types differ']): void => undefined;

// F4: the registry, method by method. No type of OpenTelemetry is involved, so they must be the very same.
same<typeof fallbacks.SpanRegistry.register, typeof core.SpanRegistry.register>();
same<typeof fallbacks.SpanRegistry.unregister, typeof core.SpanRegistry.unregister>();
same<typeof fallbacks.SpanRegistry.clear, typeof core.SpanRegistry.clear>();
same<typeof fallbacks.SpanRegistry.groups, typeof core.SpanRegistry.groups>();
same<typeof fallbacks.SpanRegistry.namespaces, typeof core.SpanRegistry.namespaces>();
same<typeof fallbacks.SpanRegistry.presets, typeof core.SpanRegistry.presets>();
same<typeof fallbacks.SpanRegistry.resolve, typeof core.SpanRegistry.resolve>();
same<keyof typeof fallbacks.SpanRegistry, keyof typeof core.SpanRegistry>();
same<typeof fallbacks.isSpanGroupEnabled, typeof core.isSpanGroupEnabled>();

// F4: definitions. The real one says what it throws; the types are the same.
export const defineSpanGroups: typeof core.defineSpanGroups = fallbacks.defineSpanGroups;
export const sameDefineSpanGroups: typeof fallbacks.defineSpanGroups = core.defineSpanGroups;
const optional = fallbacks.defineSpanGroups({
  namespace: 'optional',
  groups: ['orderRead'],
  presets: { default: ['orderRead'] },
});
same<ReturnType<typeof optional.group<'orderRead'>>, 'orderread'>();
// @ts-expect-error there is no such group
optional.group('oders');
fallbacks.defineSpanGroups({
  namespace: 'optional',
  groups: ['orders'],
  // @ts-expect-error there is no such group
  presets: { default: ['oders'] },
});

// F4: the sites. Their types of OpenTelemetry are written out in the fallbacks, so each must fit where the other is used.
export const registry: typeof core.SpanRegistry = fallbacks.SpanRegistry;
export const managedSpan: typeof core.managedSpan = fallbacks.managedSpan;
export const traceFn: typeof core.traceFn = fallbacks.traceFn;
export const withSpan: typeof core.withSpan = fallbacks.withSpan;
export const safeSetSpanAttributes: typeof core.safeSetSpanAttributes = fallbacks.safeSetSpanAttributes;
export const SpanGroup: typeof lens.SpanGroup = fallbacks.SpanGroup;
export const sameTraceFn: typeof fallbacks.traceFn = core.traceFn;
export const sameSetAttributes: (
  ...args: Parameters<typeof core.safeSetSpanAttributes>
) => ReturnType<typeof fallbacks.safeSetSpanAttributes> = fallbacks.safeSetSpanAttributes;

// F4: how a library uses them: whichever of the two it got.
declare const either: typeof core | typeof fallbacks;
either.SpanRegistry.register('shop', ['orders']);
either.isSpanGroupEnabled('orders');

// The result keeps its type.
export function numberOfOrders() {
  return core.managedSpan('orders', 'orders.count', { attributes: { a: 1 } }, async (span) => {
    span?.setAttribute('a', 1);
    return 1;
  });
}
same<ReturnType<typeof numberOfOrders>, Promise<number>>();
export const traced = core.traceFn('orders', 'orders.add')((a: number, b?: string): string => `${a}${b}`);
same<typeof traced, (a: number, b?: string) => string>();
same<Parameters<Parameters<typeof core.withSpan>[2]>[0], Span>();

// A span of managedSpan may be absent, and the compiler says so.
core.managedSpan('orders', 'x', (span) => {
  // @ts-expect-error the group may be off
  span.setAttribute('a', 1);
});

// A misspelt group is a compile error: in group(), and in a preset.
const shop = core.defineSpanGroups({
  namespace: 'shop',
  groups: ['orders', 'payment'],
  presets: { default: ['orders'] },
});
same<ReturnType<typeof shop.group<'orders'>>, 'orders'>();
shop.group('payment');
// The name that group() gives is the registered one, in types too.
export const mixed = core.defineSpanGroups({ namespace: 'mixed', groups: ['orderRead', ' Two Words '] });
same<ReturnType<typeof mixed.group<'orderRead'>>, 'orderread'>();
same<ReturnType<typeof mixed.group<' Two Words '>>, 'two words'>();
same<ReturnType<typeof mixed.group<'orderRead' | ' Two Words '>>, 'orderread' | 'two words'>();
// @ts-expect-error there is no such group
shop.group('oders');
core.defineSpanGroups({
  namespace: 'shop',
  groups: ['orders'],
  // @ts-expect-error there is no such group
  presets: { default: ['oders'] },
});

// The signatures of the design.
same<Parameters<typeof core.overrideSpanGroups>, [spec: string, options?: { ttlMs?: number }]>();
same<Parameters<typeof core.setEnabledSpanGroups>, [groups: Iterable<string>]>();
same<ReturnType<typeof core.enabledSpanGroups>, ReadonlySet<string>>();
same<ReturnType<typeof core.SpanRegistry.namespaces>, readonly string[]>();
same<Awaited<ReturnType<typeof core.setupTelemetry>>, core.TelemetryHandle>();
same<
  keyof core.NestLensConfig,
  | 'enabled'
  | 'spanGroups'
  | 'spanGroupsFile'
  | 'exporter'
  | 'tracesEnabled'
  | 'metricsEnabled'
  | 'instrumentationGroups'
  | 'runId'
  | 'userId'
  | 'clientErrors'
  | 'serviceName'
  | 'origins'
>();
// @ts-expect-error only the four exporters
export const exporter: core.NestLensConfig['exporter'] = 'jaeger';
