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

/** Tells the HTTP server span around a handler which route it answers. */
export function setServerSpanRoute(context: Context, routes: readonly HttpRoute[]): void {
  const metadata = context.getValue(RPC_METADATA) as RpcMetadata | undefined;
  if (metadata?.type !== 'http') return;
  const route = routes.length === 1 ? routes[0] : routes.find(({ template }) => matches(template, metadata));
  if (route !== undefined) metadata.route = route.template;
}

/** Of several routes of one handler, the one that the request's path fits. */
function matches(template: string, { span }: RpcMetadata): boolean {
  const path = span?.attributes?.['url.path'] ?? span?.attributes?.['http.target'];
  if (typeof path !== 'string') return false;
  const segments = path.replace(/\?.*/, '').replace(/\/+$/, '').split('/');
  const parts = template.split('/');
  return (
    parts.every((part, at) => {
      if (part.includes('*')) return true;
      return part.startsWith(':') ? segments[at] !== undefined : part === (segments[at] ?? '');
    }) &&
    (parts.length === segments.length || parts.at(-1)!.includes('*'))
  );
}
