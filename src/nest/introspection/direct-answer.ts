import type { ServerResponse } from 'node:http';
import type { Readable } from 'node:stream';
import type { HttpAdapterHost } from '@nestjs/core';

/** Fastify's reply has Node's response in `raw`; Express's is the response itself. */
export interface ResponseLike {
  readonly raw?: ServerResponse;
  getHeaders?(): Readonly<Record<string, string | number | readonly string[] | undefined>>;
  hijack?(): unknown;
}

/**
 * Sends an answer itself, since interceptors of the application may wrap every result in an object: the page, the command and scripts
 * read the documents of NestLens as they are. Nest has set the status and the headers of the route before.
 *
 * @returns the body, for interceptors that look at results
 */
export async function answerDirectly<T>(
  { httpAdapter }: HttpAdapterHost,
  response: ResponseLike,
  body: T,
): Promise<T> {
  // An interceptor with a time limit may have answered before. Fastify sends again what a handler returns before its reply is sent,
  // so the reply, a promise, is awaited.
  if (!httpAdapter.isHeadersSent(response)) await httpAdapter.reply(response, body);
  return body;
}

/** Sends a stream itself. The handler returns at once, so an interceptor with a time limit doesn't cut it off. */
export function streamDirectly(response: ResponseLike, type: string, stream: Readable): void {
  const raw = rawResponse(response);
  if (raw !== response) {
    // Fastify's reply holds what hooks have set, such as those of CORS.
    for (const [name, value] of Object.entries(response.getHeaders?.() ?? {})) {
      if (value !== undefined) raw.setHeader(name, value);
    }
    response.hijack?.();
  }
  raw.setHeader('Content-Type', type);
  // The stream ends in the middle of the application's close. Express would then wait 5 s for the idle connection.
  if (raw.req.httpVersionMajor === 1) raw.setHeader('Connection', 'close');
  stream.pipe(raw);
}

/** Node's response. */
export function rawResponse(response: ResponseLike): ServerResponse {
  return response.raw ?? (response as ServerResponse);
}
