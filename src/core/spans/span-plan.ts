import type { Attributes, Context, Link, Span, SpanKind, Tracer } from '@opentelemetry/api';
import { INVALID_SPAN_CONTEXT, trace } from '@opentelemetry/api';
import { emitOnce } from '../diagnostics/emit-once.js';
import { isSpanGroupEnabled } from '../groups/span-gate.js';
import { ignoreRejection } from './ignore-rejection.js';
import { inFlight } from './in-flight-ring.js';
import { lensTracer } from './lens-tracer.js';
import { addSiteAttributes, GROUP_ATTRIBUTE } from './site-attributes.js';
import { printValue } from './span-exception.js';

/** Options of a site. None of them is looked at while the group is off. */
export interface SiteOptions {
  /** Attributes to start the span with; as a function it runs only when the group is on. @defaultValue none */
  attributes?: Attributes | (() => Attributes);
  /** The role of the span in its trace: a call out of the process is `CLIENT`, say. @defaultValue SpanKind.INTERNAL */
  kind?: SpanKind;
  /** Spans of other traces that the span has to do with. @defaultValue none */
  links?: Link[];
  /** A tracer of your own. @defaultValue the registered provider's tracer named `nest-lens` */
  tracer?: Tracer;
  /**
   * Whether a thrown value makes the span an error; it is recorded either way. For control flow that is thrown, such as
   * BullMQ's `DelayedError`. Undefined leaves it to the application's `isError`, and then to the rule: everything is an error
   * but an `HttpException` below 500. @defaultValue undefined
   */
  isError?: (thrown: unknown) => boolean | undefined;
}

/** How a site's span is made, and how its outcome is judged. Built once per site, where the site is defined once. */
export interface SpanPlan {
  readonly name: string;
  /** Attributes that are the same for every span of the site. */
  readonly attributes: Attributes;
  readonly kind?: SpanKind | undefined;
  readonly links?: Link[] | undefined;
  readonly tracer?: Tracer | undefined;
  /** Whether the group is on now, asked for later spans of the same work; without it, always. */
  readonly isOn?: (() => boolean) | undefined;
  readonly isError?: SiteOptions['isError'] | undefined;
  /** What an answer to the caller, such as an `HttpException` below 500, does to the status; without it, what the application says. */
  readonly clientErrors?: 'unset' | 'error' | undefined;
}

/** The plan of a site with options; evaluates an attributes function, so call it only when the group is on. */
export function planSpan(
  name: string,
  options: SiteOptions | undefined,
  group: string | undefined,
): SpanPlan {
  const span = typeof name === 'string' ? name : printValue(name);
  // Measured: with a spread, V8 gives the object a shape that the SDK then copies slowly, 1.4 of the whole call.
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
    // A proxy, or a getter among the options that throws.
    emitOnce(`${group} ${span}`, { code: 'ATTRIBUTES_FAILED', details: { span, error } });
    return { name: span, attributes, isOn };
  }
}

/** Without what is no link: one of those would make an exporter lose the whole batch that its span is in. */
function linksOf(given: unknown): Link[] {
  const links = Array.isArray(given) ? (given as readonly (Partial<Link> | null | undefined)[]) : [];
  return links.filter((link): link is Link => typeof link?.context?.traceId === 'string');
}

/** Says once per span name that the SDK threw; what the application does goes on. */
export function reportSdkFailure(span: string, error: unknown): void {
  emitOnce(span, { code: 'SPAN_FAILED', details: { span, error } });
}

/** Starts the span of a plan. A sampler, span processor or tracer that fails gives a span that records nothing. */
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

/** The provider's tracer is asked on every hot path, so only what is called here is looked for. */
function isSpanOfSdk(span: unknown): span is Span {
  const { isRecording, end } = (span ?? {}) as Partial<Span>;
  return typeof isRecording === 'function' && typeof end === 'function';
}

const SPAN_METHODS = [
  ...(['spanContext', 'isRecording', 'end', 'setAttribute', 'setAttributes'] as const),
  ...(['addEvent', 'setStatus', 'updateName', 'recordException'] as const),
];

/** What a site's own tracer gives goes to the work, which may call all of it. */
function isSpanOfSite(span: Span): boolean {
  return SPAN_METHODS.every((method) => typeof span[method] === 'function');
}
