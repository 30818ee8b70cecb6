/**
 * `nest-lens/fallbacks`: what a library uses when NestLens isn't installed. It mirrors the names that a library needs, with
 * the same signatures, does nothing, and imports nothing at all, not even types.
 */

/* eslint-disable @typescript-eslint/no-explicit-any -- stands for types of packages that may not be installed */

/** OpenTelemetry's `AttributeValue`. */
export type FallbackAttributeValue =
  | string
  | number
  | boolean
  | (null | undefined | string)[]
  | (null | undefined | number)[]
  | (null | undefined | boolean)[];

/** OpenTelemetry's `Attributes`. */
export interface FallbackAttributes {
  [key: string]: FallbackAttributeValue | undefined;
}

/** OpenTelemetry's `Span`. */
export interface FallbackSpan {
  spanContext(): any;
  setAttribute(key: string, value: FallbackAttributeValue): this;
  setAttributes(attributes: FallbackAttributes): this;
  addEvent(name: string, attributesOrStartTime?: any, startTime?: any): this;
  addLink(link: any): this;
  addLinks(links: any[]): this;
  setStatus(status: { code: number; message?: string }): this;
  updateName(name: string): this;
  end(endTime?: any): void;
  isRecording(): boolean;
  recordException(exception: any, time?: any): void;
}

/** The options of a site; none of them is looked at. */
export interface FallbackSiteOptions {
  attributes?: FallbackAttributes | (() => FallbackAttributes);
  kind?: number;
  links?: any[];
  tracer?: any;
}

/** The calls of the registry. */
export interface FallbackSpanRegistryApi {
  register(
    namespace: string,
    groups: Iterable<string>,
    presets?: Readonly<Record<string, Iterable<string>>>,
    options?: { allowOverride?: boolean },
  ): void;
  unregister(namespace: string): void;
  clear(): void;
  groups(): ReadonlySet<string>;
  namespaces(): readonly string[];
  presets(): ReadonlyMap<string, ReadonlySet<string>>;
  resolve(spec: string): { enabled: ReadonlySet<string>; pending: ReadonlySet<string> };
}

/** A span that records nothing. */
const INERT_SPAN: FallbackSpan = Object.freeze({
  spanContext: () => ({ traceId: '0'.repeat(32), spanId: '0'.repeat(16), traceFlags: 0 }),
  setAttribute: () => INERT_SPAN,
  setAttributes: () => INERT_SPAN,
  addEvent: () => INERT_SPAN,
  addLink: () => INERT_SPAN,
  addLinks: () => INERT_SPAN,
  setStatus: () => INERT_SPAN,
  updateName: () => INERT_SPAN,
  end: () => undefined,
  isRecording: () => false,
  recordException: () => undefined,
} as FallbackSpan);

function register(
  _namespace: string,
  _groups: Iterable<string>,
  _presets: Readonly<Record<string, Iterable<string>>> = {},
  _options: { allowOverride?: boolean } = {},
): void {
  // Accepted and forgotten.
}

function resolve(spec: string): { enabled: ReadonlySet<string>; pending: ReadonlySet<string> } {
  const pending = new Set<string>();
  for (const part of String(spec ?? '').split(',')) {
    const entry = part.trim().toLowerCase().replace(/^-\s+/, '-');
    if (entry !== '') pending.add(entry);
  }
  return { enabled: new Set(), pending };
}

/** Accepts registrations and forgets them; nothing is ever registered or on. Never throws. */
export const SpanRegistry: FallbackSpanRegistryApi = Object.freeze({
  register,
  unregister: (_namespace: string): void => undefined,
  clear: (): void => undefined,
  groups: (): ReadonlySet<string> => new Set(),
  namespaces: (): readonly string[] => [],
  presets: (): ReadonlyMap<string, ReadonlySet<string>> => new Map([['all', new Set<string>()]]),
  resolve,
});

/** Always false. */
export function isSpanGroupEnabled(_group: string): boolean {
  return false;
}

/** Runs the body with `undefined`. */
export function managedSpan<T>(group: string, name: string, fn: (span: FallbackSpan | undefined) => T): T;
export function managedSpan<T>(
  group: string,
  name: string,
  options: FallbackSiteOptions,
  fn: (span: FallbackSpan | undefined) => T,
): T;
export function managedSpan<T>(
  _group: string,
  _name: string,
  optionsOrFn: FallbackSiteOptions | ((span: FallbackSpan | undefined) => T),
  fn?: (span: FallbackSpan | undefined) => T,
): T {
  return (fn ?? (optionsOrFn as (span: FallbackSpan | undefined) => T))(undefined);
}

/** Hands back the function that it is given. */
export function traceFn(
  _group: string,
  _name: string,
  _options?: FallbackSiteOptions,
): <F extends (...args: never[]) => unknown>(fn: F) => F {
  return (fn) => fn;
}

/** Runs the body with a span that records nothing. */
export function withSpan<T>(name: string, fn: (span: FallbackSpan) => T): T;
export function withSpan<T>(name: string, options: FallbackSiteOptions, fn: (span: FallbackSpan) => T): T;
export function withSpan<T>(
  _name: string,
  optionsOrFn: FallbackSiteOptions | ((span: FallbackSpan) => T),
  fn?: (span: FallbackSpan) => T,
): T {
  return (fn ?? (optionsOrFn as (span: FallbackSpan) => T))(INERT_SPAN);
}

/** Does nothing. */
export function safeSetSpanAttributes(
  _span: FallbackSpan | undefined,
  _attributes: Record<string, unknown>,
  _options: { redactKeys?: Iterable<string> } = {},
): void {
  // There is no span to set them on.
}

/** Decorates nothing. */
export function SpanGroup(
  _group: string,
  _options: { name?: string; attributes?: (...args: any[]) => FallbackAttributes; kind?: number } = {},
): ClassDecorator & MethodDecorator {
  return () => undefined;
}
