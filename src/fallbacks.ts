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
  /** One attribute; an undefined one counts as absent. */
  [key: string]: FallbackAttributeValue | undefined;
}

/** OpenTelemetry's `Span`. */
export interface FallbackSpan {
  /** The span's ids: OpenTelemetry's `SpanContext`. Of the inert span they are all zeros, which is invalid. */
  spanContext(): any;
  /** Does nothing. */
  setAttribute(key: string, value: FallbackAttributeValue): this;
  /** Does nothing. */
  setAttributes(attributes: FallbackAttributes): this;
  /** Does nothing. */
  addEvent(name: string, attributesOrStartTime?: any, startTime?: any): this;
  /** Does nothing. */
  addLink(link: any): this;
  /** Does nothing. */
  addLinks(links: any[]): this;
  /** Does nothing. */
  setStatus(status: { code: number; message?: string }): this;
  /** Does nothing. */
  updateName(name: string): this;
  /** Does nothing; a site ends its span by itself. */
  end(endTime?: any): void;
  /** Always false. */
  isRecording(): boolean;
  /** Does nothing. */
  recordException(exception: any, time?: any): void;
}

/** The options of a site; none of them is looked at. */
export interface FallbackSiteOptions {
  /** Attributes to start the span with; as a function it never runs. @defaultValue none */
  attributes?: FallbackAttributes | (() => FallbackAttributes);
  /** OpenTelemetry's `SpanKind`. @defaultValue 0, which is `INTERNAL` */
  kind?: number;
  /** OpenTelemetry's `Link`s. @defaultValue none */
  links?: any[];
  /** OpenTelemetry's `Tracer`. @defaultValue none */
  tracer?: any;
  /** Whether a thrown value makes the span an error; it never runs. @defaultValue undefined */
  isError?: (thrown: unknown) => boolean | undefined;
}

/** The calls of the registry. */
export interface FallbackSpanRegistryApi {
  /** Accepts a registration and forgets it. Never throws, also where the real one would. */
  register(
    namespace: string,
    groups: Iterable<string>,
    presets?: Readonly<Record<string, Iterable<string>>>,
    options?: { allowOverride?: boolean },
  ): void;
  /** Does nothing, also for a namespace that nobody registered. */
  unregister(namespace: string): void;
  /** Does nothing. */
  clear(): void;
  /** Always empty; a new set. */
  groups(): ReadonlySet<string>;
  /** Always empty; a new array. */
  namespaces(): readonly string[];
  /** Only `all`, and empty; a new map. */
  presets(): ReadonlyMap<string, ReadonlySet<string>>;
  /** Everything in the spec is pending, trimmed and in lower case. Never throws. */
  resolve(spec: string): { enabled: ReadonlySet<string>; pending: ReadonlySet<string> };
}

/** The name under which the real registry would have a group. */
export type FallbackRegisteredName<N extends string> = N extends ` ${infer Rest}` | `${infer Rest} `
  ? FallbackRegisteredName<Rest>
  : Lowercase<N>;

/** What {@link defineSpanGroups} returns. */
export interface FallbackDefinedSpanGroups<G extends string> {
  /** The owner, as it was given. */
  readonly namespace: string;
  /** Every group, as it was given. */
  readonly groups: readonly G[];
  /** Named subsets; empty if none were given. */
  readonly presets: Record<string, readonly string[]>;
  /** As it was given; false if it wasn't. */
  readonly allowOverride: boolean;
  /** Does nothing. Never throws, also where the real one would. */
  register(): void;
  /** The name of one of its groups, checked by the compiler. */
  group<N extends G>(name: N): FallbackRegisteredName<N>;
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
  for (const part of typeof spec === 'string' ? spec.split(',') : []) {
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

/** Defines span groups, checked by the compiler as by the real one; registering them does nothing. Never throws. */
export function defineSpanGroups<const G extends string, const U extends string = never>(definition: {
  namespace: string;
  groups: readonly G[];
  presets?: Readonly<Record<string, readonly NoInfer<G | U>[]>>;
  allowOverride?: boolean;
  using?: readonly { readonly groups: readonly U[] }[];
}): FallbackDefinedSpanGroups<G> {
  const { namespace, groups, presets = {}, allowOverride = false } = definition;
  return {
    namespace,
    groups,
    presets,
    allowOverride,
    register: () => undefined,
    group: <N extends G>(name: N) => String(name).trim().toLowerCase() as FallbackRegisteredName<N>,
  };
}

/** Always false. */
export function isSpanGroupEnabled(_group: string): boolean {
  return false;
}

/** Runs the body with `undefined`, as the real one does while the group is off, and returns its result. */
export function managedSpan<T>(group: string, name: string, fn: (span: FallbackSpan | undefined) => T): T;
/** The same, with options; none of them is looked at. */
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

/** Returns the very function that it is given. */
export function traceFn(
  _group: string,
  _name: string,
  _options?: FallbackSiteOptions,
): <F extends (...args: never[]) => unknown>(fn: F) => F {
  return (fn) => fn;
}

/** Runs the body with a span that records nothing, and returns its result. */
export function withSpan<T>(name: string, fn: (span: FallbackSpan) => T): T;
/** The same, with options; none of them is looked at. */
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
  _options: {
    name?: string;
    attributes?: (...args: any[]) => FallbackAttributes;
    carrier?: (...args: any[]) => object | null | undefined;
    kind?: number;
    isError?: (thrown: unknown) => boolean | undefined;
  } = {},
): ClassDecorator & MethodDecorator {
  return () => undefined;
}
