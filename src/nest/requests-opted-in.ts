import type { AbstractHttpAdapter } from '@nestjs/core';
import { context, defaultTextMapGetter } from '@opentelemetry/api';
import { optedInGroups } from '../core/groups/opted-in-groups.js';
import { admittedRequestOf, holdUntilClosed } from '../core/opt-in/admitted-request.js';
import { extractOptIn } from '../core/opt-in/extract-opt-in.js';
import { OPT_IN_HEADER } from '../core/opt-in/signed-groups.js';
import { processState } from '../core/state/process-state.js';

/** Node's server, of HTTP/1 or 2, as far as its listeners are concerned. */
interface ListeningServer {
  rawListeners(event: 'request'): RequestListener[];
  removeListener(event: 'request', listener: RequestListener): unknown;
  on(event: 'request', listener: RequestListener): unknown;
}

type RequestListener = (this: unknown, request: IncomingRequest, response: OutgoingResponse) => unknown;

interface IncomingRequest extends NodeJS.EventEmitter {
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
}

interface OutgoingResponse extends NodeJS.EventEmitter {
  once(event: 'close', listener: () => void): this;
}

const read = new WeakSet<RequestListener>();

/**
 * Has the requests that come to an application's server in the context that their header asks for: before body parsers,
 * middlewares and guards, on every platform. Node's server calls what listens to it; here each listener is replaced by one that
 * looks at the header first. A middleware or a hook would come later, and be traced by the instrumentations of Express and Fastify.
 */
export function readOptInHeaders(adapter: AbstractHttpAdapter): void {
  const server = adapter.getHttpServer() as Partial<ListeningServer> | undefined;
  if (!isListeningServer(server)) return;
  for (const listener of server.rawListeners('request')) {
    if (read.has(listener)) continue;
    const reading = readFirst(listener);
    read.add(reading);
    server.removeListener('request', listener);
    server.on('request', reading);
  }
}

function isListeningServer(server: Partial<ListeningServer> | undefined): server is ListeningServer {
  return typeof server?.rawListeners === 'function' && typeof server.removeListener === 'function';
}

function readFirst(listener: RequestListener): RequestListener {
  return function (request, response) {
    const { headers } = request;
    const isPlain =
      processState.requestOptIn === undefined ||
      (headers[OPT_IN_HEADER] === undefined && headers['baggage'] === undefined);
    return isPlain ? listener.call(this, request, response) : handle(listener, this, request, response);
  };
}

function handle(
  listener: RequestListener,
  server: unknown,
  request: IncomingRequest,
  response: OutgoingResponse,
): unknown {
  const { requestOptIn } = processState;
  const active = context.active();
  // An instrumentation of the server has extracted a context already.
  const inside = extractOptIn(active, request.headers, defaultTextMapGetter);
  const admitted = admittedRequestOf(optedInGroups(inside));
  if (requestOptIn === undefined || admitted === undefined) return listener.call(server, request, response);
  holdUntilClosed(requestOptIn, admitted, response);
  if (inside === active) return listener.call(server, request, response);
  // Node tells of the body, and of the end, outside of the context.
  context.bind(inside, request);
  context.bind(inside, response);
  return context.with(inside, () => listener.call(server, request, response));
}
