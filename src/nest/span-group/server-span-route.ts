import { type Context, createContextKey } from '@opentelemetry/api';
import type { HttpRoute } from './http-routes.js';

/**
 * Where `@opentelemetry/instrumentation-http` leaves what others tell it about a request (`getRPCMetadata` of
 * `@opentelemetry/core`, whose key is found by this description): what stands in `route` when the response ends becomes the
 * server span's `http.route` and part of its name.
 */
const RPC_METADATA = createContextKey('OpenTelemetry SDK Context Key RPC_METADATA');

interface RpcMetadata {
  readonly type?: unknown;
  readonly span?: { readonly attributes?: Readonly<Record<string, unknown>> };
  route?: string;
}

/** Requests that have their route: a handler that calls another one stays the one that answers. */
const named = new WeakSet<RpcMetadata>();

/** Tells the HTTP server span around a handler which route it answers. */
export function setServerSpanRoute(context: Context, routes: readonly HttpRoute[]): void {
  const metadata = context.getValue(RPC_METADATA) as RpcMetadata | undefined;
  if (metadata?.type !== 'http' || named.has(metadata)) return;
  const route = routes.length === 1 ? routes[0] : routes.find(({ template }) => matches(template, metadata));
  if (route === undefined) return;
  named.add(metadata);
  metadata.route = route.template;
}

/** Of several routes of one handler, the one that the request's path fits. */
function matches(template: string, { span }: RpcMetadata): boolean {
  const path = span?.attributes?.['url.path'] ?? span?.attributes?.['http.target'];
  if (typeof path !== 'string') return false;
  let pattern = patterns.get(template);
  if (pattern === undefined) patterns.set(template, (pattern = patternOf(template)));
  return pattern.test(path.replace(/\?.*/, '').replace(/(?!^)\/+$/, ''));
}

const patterns = new Map<string, RegExp>();

/** Optional and other parameters, wildcards, optional groups, and characters with a meaning in a pattern. */
const TEMPLATE_TOKEN = /\/:\w+\?|:\w+(?:\([^)]*\))?|\*\w*|[^\w/]/g;

/**
 * What a template matches, loosely: it was a router that chose the handler, with rules of its own (Express takes no notice of
 * case); here its routes are only told apart.
 */
function patternOf(template: string): RegExp {
  const source = template.replace(TEMPLATE_TOKEN, (token) => {
    if (token === '{') return '(?:';
    if (token === '}') return ')?';
    if (token.startsWith('*')) return '.*';
    if (token.startsWith('/')) return '(?:/[^/]+)?';
    return token.length > 1 ? '[^/]+' : `\\${token}`;
  });
  try {
    return new RegExp(`^${source}$`, 'i');
  } catch {
    return /(?!)/; // a template that is no path: it matches nothing
  }
}
