import type { Attributes, Span } from '@opentelemetry/api';
import { quote } from '../../core/diagnostics/quote-details.js';
import { isSpanGroupEnabled } from '../../core/groups/span-gate.js';
import { addSiteAttributes, GROUP_ATTRIBUTE } from '../../core/spans/site-attributes.js';
import { reportSdkFailure, type SpanPlan } from '../../core/spans/span-plan.js';
import { linkCaller } from './callers-trace.js';
import { clientErrorsOf } from './http-answer.js';
import type { HttpRoute } from './http-routes.js';
import type { SpanGroupOptions } from './span-group-metadata.js';

/** What the spans of one method have in common, whoever makes them. */
export interface MethodSite {
  readonly group: string;
  readonly options: SpanGroupOptions;
  /** Whether the options stand on the class: then `options.name` replaces the class's name only. */
  readonly onClass: boolean;
  /** The class that was decorated; spans carry the name of the one that the method is called on. */
  readonly Class: object;
  readonly key: string | symbol;
  /** Which option of `autoGroups` has put the method behind its gate; undefined: a decorator has. */
  readonly auto?: AutoGroupKind | undefined;
}

/** What `autoGroups` can put into groups. */
export type AutoGroupKind = 'handlers' | 'enhancers' | 'providers';

/**
 * The plan of a method's spans on one class.
 *
 * @param types the context types that Nest may call it in: none for a method that isn't a handler. With several of them a call
 * doesn't show which one it is, so what depends on the type is left out; if one of them is `rpc` or `ws`, every throw is an error.
 */
export function methodSpanPlan(
  site: MethodSite,
  className: string,
  types: readonly string[],
  routes: readonly HttpRoute[],
): SpanPlan {
  const { group, options, onClass } = site;
  const methodName = quote(String(site.key)); // a symbol may say anything
  const type = types.length === 1 ? types[0] : undefined;
  const name = onClass
    ? `${options.name ?? className}.${methodName}`
    : (options.name ?? `${className}.${methodName}`);
  return {
    name,
    isOn: () => isSpanGroupEnabled(group),
    kind: options.kind,
    attributes: {
      [GROUP_ATTRIBUTE]: group,
      'code.function.name': `${className}.${methodName}`,
      ...(types.length === 0 ? {} : { 'nestjs.controller': className, 'nestjs.callback': methodName }),
      ...(type === undefined ? {} : { 'nestjs.type': type }),
      // With several routes it depends on the request; then only the server span gets it.
      ...(type === 'http' && routes.length === 1 ? { 'http.route': routes[0]!.template } : {}),
    },
    isError: options.isError,
    clientErrors: clientErrorsOf(types),
  };
}

/** The plan of one call: with the attributes that its arguments give. */
export function planOfCall(
  plan: SpanPlan,
  { group, options }: MethodSite,
  args: readonly unknown[],
): SpanPlan {
  if (options.attributes === undefined) return plan;
  const attributes = Object.assign({}, plan.attributes);
  addSiteAttributes(attributes, plan.name, group, () => options.attributes!(...args));
  return { ...plan, attributes };
}

/**
 * Sets what the arguments of a call give on a span that was made before they were known: by an interceptor, or by a method that
 * has called `super`.
 */
export function describeCall(
  span: Span,
  spanName: string,
  { group, options }: MethodSite,
  args: readonly unknown[],
): void {
  try {
    if (!span.isRecording()) return;
    if (options.carrier !== undefined) linkCaller(span, spanName, options, args);
    if (options.attributes === undefined) return;
    const attributes: Attributes = {};
    addSiteAttributes(attributes, spanName, group, () => options.attributes!(...args));
    delete attributes[GROUP_ATTRIBUTE]; // the span has one, which may be that of a class further up
    span.setAttributes(attributes);
  } catch (error) {
    reportSdkFailure(spanName, error);
  }
}
