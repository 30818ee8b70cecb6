import { subscribe, unsubscribe } from 'node:diagnostics_channel';
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

/**
 * The original listener -> the one that replaces it and reads the header first. The latter maps to itself, because it needs
 * no replacement.
 */
const readers = new WeakMap<RequestListener, RequestListener>();

/** Node publishes each request here before the server calls its listeners. */
const REQUEST_CHANNEL = 'http.server.request.start';

/**
 * Runs the requests to an application's server in the context that their header asks for: before body parsers, middleware and
 * guards, on every platform. It replaces each listener of Node's server by one that reads the header first. A middleware or
 * hook would run later, and the instrumentations of Express and Fastify would trace it.
 *
 * @returns stops looking for more servers of the application. Replaced listeners stay, and read nothing while `requestOptIn`
 * is off
 */
export function readOptInHeaders(adapter: AbstractHttpAdapter): () => void {
  const server = adapter.getHttpServer() as Partial<ListeningServer> | undefined;
  if (!isListeningServer(server)) return () => undefined;
  for (const listener of server.rawListeners('request')) readFirst(server, listener);
  return adapter.getType() === 'fastify' ? readOnFurtherServers(server) : () => undefined;
}

/**
 * Fastify listens on `localhost`, its default, with one server for each address of that name. Its `server` is only the first of
 * them. It makes the second one, for `::1`, after all hooks of Nest, and gives it the listener that the first one had.
 */
function readOnFurtherServers(first: ListeningServer): () => void {
  const seen = new WeakSet<object>([first]);
  const look = (message: unknown): void => {
    const { server } = message as { server: ListeningServer };
    if (seen.has(server)) return;
    seen.add(server);
    for (const listener of server.rawListeners('request')) {
      if (readers.has(listener)) readFirst(server, listener);
    }
  };
  subscribe(REQUEST_CHANNEL, look);
  return () => void unsubscribe(REQUEST_CHANNEL, look);
}

function readFirst(server: ListeningServer, listener: RequestListener): void {
  const reader = readers.get(listener) ?? readerBefore(listener);
  if (reader === listener) return;
  server.removeListener('request', listener);
  server.on('request', reader);
}

function isListeningServer(server: Partial<ListeningServer> | undefined): server is ListeningServer {
  return typeof server?.rawListeners === 'function' && typeof server.removeListener === 'function';
}

function readerBefore(listener: RequestListener): RequestListener {
  const reader: RequestListener = function (request, response) {
    const isPlain = processState.requestOptIn === undefined || !mayOptIn(request.headers);
    return isPlain ? listener.call(this, request, response) : handle(listener, this, request, response);
  };
  readers.set(listener, reader).set(reader, reader);
  return reader;
}

/** Measured: without the look into it, baggage of others costs a request 98 ns instead of 15. */
function mayOptIn({ [OPT_IN_HEADER]: header, baggage }: IncomingRequest['headers']): boolean {
  if (header !== undefined) return true;
  return typeof baggage === 'string' ? baggage.includes(OPT_IN_HEADER) : baggage !== undefined;
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
