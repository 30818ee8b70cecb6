import type { Attributes, Context, Link, Span, SpanKind, Tracer } from '@opentelemetry/api';
import { INVALID_SPAN_CONTEXT, trace } from '@opentelemetry/api';
import { emitOnce } from '../diagnostics/emit-once.js';
import { isSpanGroupEnabled } from '../groups/span-gate.js';
import { ignoreRejection } from './ignore-rejection.js';
import { inFlight } from './in-flight-ring.js';
import { lensTracer } from './lens-tracer.js';
import { addSiteAttributes, GROUP_ATTRIBUTE } from './site-attributes.js';
import { printValue } from './span-exception.js';

/** Options of a site. NestLens reads none of them while the group is off. */
export interface SiteOptions {
  /** Attributes to start the span with. A function runs only while the group is on. @defaultValue none */
  attributes?: Attributes | (() => Attributes);
  /** The role of the span in its trace, e.g. `CLIENT` for a call to another process. @defaultValue SpanKind.INTERNAL */
  kind?: SpanKind;
  /** Related spans of other traces. @defaultValue none */
  links?: Link[];
  /** A tracer of your own. @defaultValue the registered provider's tracer named `nest-lens` */
  tracer?: Tracer;
  /**
   * Whether a thrown value makes the span an error; it is recorded either way. Use it for thrown control flow, such as
   * BullMQ's `DelayedError`. If it returns undefined, the application's `isError` decides, and then the rule: every thrown
   * value is an error except an `HttpException` below 500. @defaultValue undefined
   */
  isError?: (thrown: unknown) => boolean | undefined;
}

/** How the span of a site is made and its outcome judged. A site that is defined once builds it once. */
export interface SpanPlan {
  readonly name: string;
  /** Attributes that are the same for every span of the site. */
  readonly attributes: Attributes;
  readonly kind?: SpanKind | undefined;
  readonly links?: Link[] | undefined;
  readonly tracer?: Tracer | undefined;
  /** Whether the group is on now. It is called for later spans of the same work; without it, the group counts as on. */
  readonly isOn?: (() => boolean) | undefined;
  readonly isError?: SiteOptions['isError'] | undefined;
  /**
   * The effect of an answer, such as an `HttpException` below 500, on the status. If undefined, the application's setting
   * counts.
   */
  readonly clientErrors?: 'unset' | 'error' | undefined;
}

/** Makes the plan of a site with options. It runs an attributes function, so call it only while the group is on. */
export function planSpan(
  name: string,
  options: SiteOptions | undefined,
  group: string | undefined,
): SpanPlan {
  const span = printValue(name);
  // Measured: with a spread, V8 gives the object a shape that the SDK copies slowly, which makes the whole call 1.4 times as
  // long.
  const attributes: Attributes = group === undefined ? {} : { [GROUP_ATTRIBUTE]: group };
  const isOn = group === undefined ? undefined : () => isSpanGroupEnabled(group);
  try {
    if (options?.attributes !== undefined) addSiteAttributes(attributes, span, group, options.attributes);
    return {
      name: span,
      attributes,
      kind: options?.kind,
      links: options?.links === undefined ? undefined : linksOf(options.links),
      tracer: options?.tracer,
      isOn,
      isError: options?.isError,
    };
  } catch (error) {
    // A proxy, or a getter among the options, threw.
    emitOnce(`${group} ${span}`, { code: 'ATTRIBUTES_FAILED', details: { span, error } });
    return { name: span, attributes, isOn };
  }
}

/** Drops everything that is no link: one bad link makes an exporter lose the whole batch of its span. */
function linksOf(given: unknown): Link[] {
  const links = Array.isArray(given) ? (given as readonly (Partial<Link> | null | undefined)[]) : [];
  return links.filter((link): link is Link => typeof link?.context?.traceId === 'string');
}

/** Warns once per span name that the SDK threw. The application's work goes on. */
export function reportSdkFailure(span: string, error: unknown): void {
  emitOnce(span, { code: 'SPAN_FAILED', details: { span, error } });
}

/** Starts the span of a plan. If a sampler, span processor or tracer fails, it returns a span that records nothing. */
export function startSpan(plan: SpanPlan, parent: Context): Span {
  inFlight.isStartingOwn = true;
  try {
    const tracer = plan.tracer ?? lensTracer();
    const options = { attributes: plan.attributes, kind: plan.kind, links: plan.links };
    const span: unknown = tracer.startSpan(plan.name, options, parent);
    if (isSpanOfSdk(span) && (plan.tracer === undefined || isSpanOfSite(span))) return span;
    ignoreRejection(span);
    throw new TypeError('its tracer gave something that is no span');
  } catch (error) {
    reportSdkFailure(plan.name, error);
    return trace.wrapSpanContext(trace.getSpanContext(parent) ?? INVALID_SPAN_CONTEXT);
  } finally {
    inFlight.isStartingOwn = false;
  }
}

/** Every hot path calls the provider's tracer, so this checks only the methods that NestLens calls. */
function isSpanOfSdk(span: unknown): span is Span {
  const { isRecording, end } = (span ?? {}) as Partial<Span>;
  return typeof isRecording === 'function' && typeof end === 'function';
}

const SPAN_METHODS = [
  ...(['spanContext', 'isRecording', 'end', 'setAttribute', 'setAttributes'] as const),
  ...(['addEvent', 'setStatus', 'updateName', 'recordException'] as const),
];

/** The span of a site's own tracer goes to the application's code, which may call any method. */
function isSpanOfSite(span: Span): boolean {
  return SPAN_METHODS.every((method) => typeof span[method] === 'function');
}
