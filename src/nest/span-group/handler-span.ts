import type { Attributes, Span } from '@opentelemetry/api';
import { quote } from '../../core/diagnostics/quote-details.js';
import { isSpanGroupEnabled } from '../../core/groups/span-gate.js';
import { addSiteAttributes, GROUP_ATTRIBUTE } from '../../core/spans/site-attributes.js';
import { reportSdkFailure, type SpanPlan } from '../../core/spans/span-plan.js';
import { linkCaller } from './callers-trace.js';
import { clientErrorsOf } from './http-answer.js';
import type { HttpRoute } from './http-routes.js';
import type { SpanGroupOptions } from './span-group-metadata.js';

/** The common facts of all spans of one method. */
export interface MethodSite {
  readonly group: string;
  readonly options: SpanGroupOptions;
  /** Whether the options stand on the class: then `options.name` replaces only the class's name. */
  readonly onClass: boolean;
  /** The decorated class. Spans carry the name of the receiver's class. */
  readonly Class: object;
  readonly key: string | symbol;
  /** The option of `autoGroups` that put the method behind its gate; undefined if a decorator did. */
  readonly auto?: AutoGroupKind | undefined;
}

/** The kinds of methods that `autoGroups` puts into groups. */
export type AutoGroupKind = 'handlers' | 'enhancers' | 'providers';

/**
 * The plan of a method's spans on one class.
 *
 * @param types the context types in which Nest may call it; none for a method that isn't a handler. If there are several, a
 * call doesn't show its type, so attributes that depend on the type are left out. If one of them is `rpc` or `ws`, every
 * thrown value is an error.
 */
export function methodSpanPlan(
  site: MethodSite,
  className: string,
  types: readonly string[],
  routes: readonly HttpRoute[],
): SpanPlan {
  const { group, options, onClass } = site;
  const methodName = quote(String(site.key)); // A symbol may have any description.
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
      // With several routes, the route depends on the request, so only the server span gets it.
      ...(type === 'http' && routes.length === 1 ? { 'http.route': routes[0]!.template } : {}),
    },
    isError: options.isError,
    clientErrors: clientErrorsOf(types),
  };
}

/** The plan of one call, with the attributes from its arguments. */
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
 * Sets the data from a call's arguments on a span that was made before they were known: by an interceptor, or by a method
 * that has called `super`.
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
    delete attributes[GROUP_ATTRIBUTE]; // The span may have the group of a class further up.
    span.setAttributes(attributes);
  } catch (error) {
    reportSdkFailure(spanName, error);
  }
}
