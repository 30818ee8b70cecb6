import type { AbstractHttpAdapter } from '@nestjs/core';
import { context, defaultTextMapGetter } from '@opentelemetry/api';
import { optedInGroups } from '../core/groups/opted-in-groups.js';
import { admittedRequestOf, holdUntilClosed } from '../core/opt-in/admitted-request.js';
import { extractOptIn } from '../core/opt-in/extract-opt-in.js';
import { OPT_IN_HEADER } from '../core/opt-in/signed-groups.js';
import { processState } from '../core/state/process-state.js';

/** The listeners of Node's server, of HTTP/1 or 2. */
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
 * Runs the requests to an application's server in the context that their header asks for: before body parsers, middleware and
 * guards, on every platform. It replaces each listener of Node's server by one that reads the header first. A middleware or
 * hook would run later, and the instrumentations of Express and Fastify would trace it.
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
  // An instrumentation of the server may have extracted a context already.
  const inside = extractOptIn(active, request.headers, defaultTextMapGetter);
  const admitted = admittedRequestOf(optedInGroups(inside));
  if (requestOptIn === undefined || admitted === undefined) return listener.call(server, request, response);
  holdUntilClosed(requestOptIn, admitted, response);
  if (inside === active) return listener.call(server, request, response);
  // Node emits the events of the body, and the end, outside of the context.
  context.bind(inside, request);
  context.bind(inside, response);
  return context.with(inside, () => listener.call(server, request, response));
}
