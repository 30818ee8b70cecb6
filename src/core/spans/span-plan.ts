import { types } from 'node:util';
import type { Attributes, Context, Link, Span, SpanKind, Tracer } from '@opentelemetry/api';
import { INVALID_SPAN_CONTEXT, trace } from '@opentelemetry/api';
import { lensTracer } from './lens-tracer.js';
import { inFlight } from './in-flight-ring.js';
import { isSpanGroupEnabled } from '../groups/span-gate.js';
import { emitWarnings } from '../diagnostics/warnings.js';

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
  /** Whether a thrown value makes the span an error; without it, every one does. */
  readonly isError?: ((thrown: unknown) => boolean) | undefined;
}

/** The attribute that names the group of a gated span. */
export const GROUP_ATTRIBUTE = 'nestlens.group';

const NO_ATTRIBUTES: Attributes = {};

/** What was complained about already, so that a broken callback on a hot path is reported once, not per call. */
const reported = new WeakSet<object>();

/** Calls an attributes function; one that throws costs its attributes and a warning, not the call that is traced. */
export function readAttributes(span: string, read: () => Attributes, identity: object = read): Attributes {
  try {
    const attributes = read() ?? NO_ATTRIBUTES;
    // Types forbid an async function; its rejection must not go unhandled all the same.
    if (types.isPromise(attributes)) attributes.catch(() => undefined);
    return attributes;
  } catch (error) {
    if (!reported.has(identity)) {
      reported.add(identity);
      emitWarnings([{ code: 'ATTRIBUTES_FAILED', details: { span, error } }]);
    }
    return NO_ATTRIBUTES;
  }
}

/** The plan of a site with options; evaluates an attributes function, so call it only when the group is on. */
export function planSpan(
  name: string,
  options: SiteOptions | undefined,
  group: string | undefined,
): SpanPlan {
  const given = options?.attributes;
  const own = typeof given === 'function' ? readAttributes(name, given) : given;
  let attributes = own ?? NO_ATTRIBUTES;
  if (group !== undefined) {
    // Measured: with a spread, V8 gives the object a shape that the SDK then copies slowly, 1.4 of the whole call.
    attributes = Object.assign({ [GROUP_ATTRIBUTE]: group }, own);
    attributes[GROUP_ATTRIBUTE] = group;
  }
  return {
    name,
    attributes,
    kind: options?.kind,
    links: options?.links,
    tracer: options?.tracer,
    isOn: group === undefined ? undefined : () => isSpanGroupEnabled(group),
  };
}

const sdkFailures = new Set<string>();

/** Says once per span name that the SDK threw; what the application does goes on. */
export function reportSdkFailure(span: string, error: unknown): void {
  if (sdkFailures.has(span) || sdkFailures.size >= 100) return;
  sdkFailures.add(span);
  emitWarnings([{ code: 'SPAN_FAILED', details: { span, error } }]);
}

/** Starts the span of a plan. A sampler or span processor that throws gives a span that records nothing. */
export function startSpan(plan: SpanPlan, parent: Context): Span {
  inFlight.isStartingOwn = true;
  try {
    const tracer = plan.tracer ?? lensTracer();
    return tracer.startSpan(
      plan.name,
      { attributes: plan.attributes, kind: plan.kind, links: plan.links },
      parent,
    );
  } catch (error) {
    reportSdkFailure(plan.name, error);
    return trace.wrapSpanContext(trace.getSpanContext(parent) ?? INVALID_SPAN_CONTEXT);
  } finally {
    inFlight.isStartingOwn = false;
  }
}
