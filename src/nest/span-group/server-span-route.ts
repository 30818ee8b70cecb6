import { context } from '@opentelemetry/api';
import { RPC_METADATA } from '../../core/spans/context-keys-of-others.js';

/** The key of the request that has set the route. */
const REQUEST = Symbol('nest-lens request');

/** The object through which the server span of a request learns its route. */
interface ServerSpanMetadata {
  readonly type?: unknown;
  [REQUEST]?: object;
  route?: string | undefined;
}

function activeMetadata(): ServerSpanMetadata | undefined {
  const metadata = context.active().getValue(RPC_METADATA) as ServerSpanMetadata | undefined;
  return metadata?.type === 'http' ? metadata : undefined;
}

/**
 * Gives the server span of a request its route; undefined if it has none.
 *
 * @returns whether there is a server span. A request that a handler makes within the process leaves the outer span alone
 */
export function setServerSpanRoute(request: object, route: string | undefined): boolean {
  const metadata = activeMetadata();
  if (metadata === undefined || (metadata[REQUEST] ?? request) !== request) return false;
  metadata[REQUEST] = request;
  metadata.route = route;
  return true;
}

/**
 * Reads the route of a request at its end, unless the server span has got it by then.
 *
 * @param response the response; its last event is `close`
 */
export function setServerSpanRouteAtEnd(
  response: NodeJS.EventEmitter,
  routeOf: () => string | undefined,
): void {
  const metadata = activeMetadata();
  if (metadata === undefined) return;
  // This listener runs before the instrumentation's own, which ends the span.
  response.prependOnceListener('close', () => {
    if (metadata[REQUEST] === undefined && metadata.route === undefined) metadata.route = routeOf();
  });
}
