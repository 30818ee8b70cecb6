import { context } from '@opentelemetry/api';
import { RPC_METADATA } from '../../core/spans/context-keys-of-others.js';

/** The request that has set the route. */
const REQUEST = Symbol('nest-lens request');

/** What the server span of a request is told about. */
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
 * Tells the server span of a request which route it has; undefined: it has none.
 *
 * @returns whether there is a server span to tell. A request that a handler makes within the process leaves the outer one alone
 */
export function setServerSpanRoute(request: object, route: string | undefined): boolean {
  const metadata = activeMetadata();
  if (metadata === undefined || (metadata[REQUEST] ?? request) !== request) return false;
  metadata[REQUEST] = request;
  metadata.route = route;
  return true;
}

/**
 * Has the route of a request asked for at its end, where nobody has told the server span by then.
 *
 * @param response its last event is `close`
 */
export function setServerSpanRouteAtEnd(
  response: NodeJS.EventEmitter,
  routeOf: () => string | undefined,
): void {
  const metadata = activeMetadata();
  if (metadata === undefined) return;
  // Before the instrumentation's own listener, which ends the span.
  response.prependOnceListener('close', () => {
    if (metadata[REQUEST] === undefined && metadata.route === undefined) metadata.route = routeOf();
  });
}
