import { safe } from './output.js';
import { CommandError } from './command-error.js';
import { type EventOfServer, readEvents } from './server-events.js';

/** The time in which a server has to answer, in milliseconds. */
const ANSWER_WITHIN_MS = 10_000;
const DEFAULT_PATH = 'lens';

/** The address of the endpoint, and the token. */
export interface LensClientOptions {
  readonly url: string | undefined;
  readonly path: string | undefined;
  readonly token: string | undefined;
}

/** What is sent. */
export interface LensRequest {
  readonly method?: 'GET' | 'PUT' | 'POST' | 'DELETE';
  /** After `/lens/groups`. */
  readonly path?: string;
  readonly body?: unknown;
  readonly accept?: string;
  readonly withinMs?: number;
  readonly signal?: AbortSignal;
}

/** Asks the endpoint of one process. Every failure is a `CommandError` of one line, and none of them shows the token. */
export class LensClient {
  private readonly base: string;
  private readonly token: string | undefined;

  constructor({ url, path, token }: LensClientOptions) {
    this.base = endpointOf(url, path);
    this.token = token?.trim() || undefined;
    if (this.token !== undefined && !/^[\x21-\x7e]+$/.test(this.token)) {
      throw new CommandError('NEST_LENS_TOKEN has characters that a header cannot carry.');
    }
  }

  /** The JSON of an answer that `isRight` accepts. */
  async ask<T>(isRight: (answer: unknown) => answer is T, request: LensRequest = {}): Promise<T> {
    const response = await this.send(request);
    const answer = await readJson(response, this.base);
    if (isRight(answer)) return answer;
    throw notOurs(this.base, response);
  }

  /** The events of a streamed answer; none if it is no stream. */
  async *events(request: LensRequest): AsyncGenerator<EventOfServer> {
    const response = await this.send({ ...request, accept: 'text/event-stream' });
    const type = response.headers.get('content-type') ?? '';
    if (!type.startsWith('text/event-stream')) {
      const data = await readJson(response, this.base);
      if (data !== undefined) yield { event: 'done', data };
      return;
    }
    try {
      yield* readEvents(response.body);
    } catch (error) {
      throw new CommandError(`The connection to ${this.base} broke: ${reasonOf(error)}.`);
    }
  }

  private async send({
    method = 'GET',
    path = '',
    body,
    accept = 'application/json',
    withinMs = ANSWER_WITHIN_MS,
    signal,
  }: LensRequest): Promise<Response> {
    const headers: Record<string, string> = { accept };
    if (body !== undefined) headers['content-type'] = 'application/json';
    if (this.token !== undefined) headers['authorization'] = `Bearer ${this.token}`;
    const timeout = AbortSignal.timeout(withinMs);
    let response: Response;
    try {
      response = await fetch(`${this.base}${path}`, {
        method,
        headers,
        // The token is for this server only.
        redirect: 'manual',
        signal: signal === undefined ? timeout : AbortSignal.any([timeout, signal]),
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
    } catch (error) {
      if (signal?.aborted === true) throw error;
      if (timeout.aborted) throw new CommandError(`${this.base} didn't answer within ${withinMs / 1_000} s.`);
      throw new CommandError(
        `Nothing answers at ${this.base} (${reasonOf(error)}). Is the application running, and is --url right?`,
      );
    }
    if (response.ok) return response;
    throw await this.refusal(response, method !== 'GET');
  }

  private async refusal(response: Response, isChange: boolean): Promise<CommandError> {
    const { status } = response;
    const answer = ((await readJson(response, this.base)) ?? {}) as { message?: unknown; nearest?: unknown };
    const said = typeof answer.message === 'string' ? safe(answer.message, 500) : '';
    if (status === 401 || status === 403) {
      const token =
        this.token === undefined ? 'NEST_LENS_TOKEN is not set' : 'its guards do not accept NEST_LENS_TOKEN';
      return new CommandError(`${this.base} refuses (${status}): ${token}.`);
    }
    if (status === 404 && Array.isArray(answer.nearest)) return new CommandError(said);
    if (status === 404) {
      const remedy = isChange
        ? 'changes need introspection.runtimeControl in the application'
        : 'is there a prefix (--url http://host/prefix), or another --path?';
      return new CommandError(
        `There is no ${isChange ? 'such route' : 'endpoint'} at ${this.base} (404): ${remedy}.`,
      );
    }
    if (status >= 300 && status < 400) {
      const target = safe(response.headers.get('location') ?? 'elsewhere');
      return new CommandError(`${this.base} redirects to ${target} (${status}). Give the address itself.`);
    }
    return new CommandError(`${this.base} answers ${status}${said === '' ? '' : `: ${said}`}`);
  }
}

function endpointOf(given: string | undefined, path = DEFAULT_PATH): string {
  if (given === undefined || given.trim() === '') {
    throw new CommandError('Name the process to ask: --url http://localhost:3000, or NEST_LENS_URL.');
  }
  const url = parse(given);
  if (url === null || !/^https?:$/.test(url.protocol)) {
    throw new CommandError(`--url is '${safe(given)}'. Give an address such as http://localhost:3000.`);
  }
  if (url.username !== '' || url.password !== '') {
    throw new CommandError(
      '--url has credentials in it, which other users of this machine can see. Put the token into NEST_LENS_TOKEN.',
    );
  }
  const segments = path.split('/').filter((segment) => segment !== '');
  const route = ['', ...segments.map(encodeURIComponent), 'groups'].join('/');
  const prefix = url.pathname.replace(/\/+$/, '');
  // A user may have copied the address of the document; it means the same.
  return url.origin + (prefix.endsWith(route) ? prefix : prefix + route);
}

function parse(given: string): URL | null {
  try {
    return new URL(given);
  } catch {
    return null;
  }
}

async function readJson(response: Response, base: string): Promise<unknown> {
  let text: string;
  try {
    text = await response.text();
  } catch (error) {
    throw new CommandError(`The connection to ${base} broke: ${reasonOf(error)}.`);
  }
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function notOurs(base: string, response: Response): CommandError {
  const type = safe(response.headers.get('content-type') ?? 'no type');
  return new CommandError(
    `${base} answers, but not as NestLens does (${type}). Is --url the address of the application?`,
  );
}

/** Node gives the reason in the cause of a failed `fetch`. */
function reasonOf(error: unknown): string {
  const { cause, message } = error as { cause?: { code?: unknown; message?: unknown }; message?: unknown };
  return safe(cause?.code ?? cause?.message ?? message ?? error);
}
