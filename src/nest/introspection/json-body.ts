import { BadRequestException, PayloadTooLargeException, UnsupportedMediaTypeException } from '@nestjs/common';
import { describeValue, quote } from '../../core/diagnostics/quote-details.js';
import { nearestName } from '../../core/groups/nearest-name.js';

/** The fields of a request that are read; Express and Fastify agree on them. */
export interface RequestLike {
  readonly headers?: Readonly<Record<string, unknown>>;
}

const MAX_BODY_BYTES = 16_384;

/**
 * Reads the JSON object of a request. The caller checks the values.
 *
 * @param keys the allowed keys
 * @throws UnsupportedMediaTypeException, PayloadTooLargeException, BadRequestException, which say what is wrong
 */
export function readJsonBody(
  { headers = {} }: RequestLike,
  body: unknown,
  keys: readonly string[],
): Record<string, unknown> {
  const contentType = headers['content-type'];
  // A form can't send JSON, so the page of another site can't make a browser do this.
  if (typeof contentType !== 'string' || !/^application\/json\s*(;|$)/i.test(contentType)) {
    throw new UnsupportedMediaTypeException('Send the body as application/json.');
  }
  if (isTooLarge(headers, body)) {
    throw new PayloadTooLargeException(`The body has more than ${MAX_BODY_BYTES} bytes.`);
  }
  if (body === undefined) {
    throw new BadRequestException(
      'The body is missing, or the application does not parse JSON here: with bodyParser: false it needs a parser of its own.',
    );
  }
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    throw new BadRequestException(`The body must be a JSON object, not ${describeValue(body)}.`);
  }
  const unknown = Object.keys(body).find((key) => !keys.includes(key));
  if (unknown !== undefined) {
    const near = nearestName(unknown, keys);
    const hint = near === undefined ? '' : ` Did you mean '${near}'?`;
    throw badRequest(quote(unknown), `is not known; a body has ${keys.join(', ')}.${hint}`);
  }
  return body as Record<string, unknown>;
}

/** The answer to an invalid value; `where` is its key. */
export function badRequest(where: string, problem: string): BadRequestException {
  const message = `${where} ${problem}`;
  return new BadRequestException({ statusCode: 400, error: 'Bad Request', message, where });
}

/** A chunked or compressed body has no usable length, so the parsed body is measured. */
function isTooLarge(headers: Readonly<Record<string, unknown>>, body: unknown): boolean {
  const length = headers['content-length'];
  if (typeof length === 'string' && headers['content-encoding'] === undefined) {
    return !(Number(length) <= MAX_BODY_BYTES);
  }
  try {
    return Buffer.byteLength(JSON.stringify(body) ?? '') > MAX_BODY_BYTES;
  } catch {
    return true; // It is nested too deeply to be written again.
  }
}
