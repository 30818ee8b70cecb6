import { describeValue } from '../../core/diagnostics/quote-details.js';
import { specProblem } from '../../core/groups/span-group-spec.js';
import { badRequest, readJsonBody, type RequestLike } from './json-body.js';

const DEFAULT_TTL_SECONDS = 900;
const MAX_TTL_SECONDS = 86_400;
/** Warnings quote it. */
const MAX_SPEC_CHARACTERS = 1_000;

/** The content of a `PUT /lens/groups`. */
export interface AskedOverride {
  readonly spec: string;
  readonly ttlSeconds: number;
}

/** Reads the body of `PUT /lens/groups`. @throws HttpException that says what is wrong, and where */
export function readOverrideBody(request: RequestLike, body: unknown): AskedOverride {
  const { spec, ttlSeconds = DEFAULT_TTL_SECONDS } = readJsonBody(request, body, ['spec', 'ttlSeconds']);
  if (typeof ttlSeconds !== 'number' || !(ttlSeconds > 0 && ttlSeconds <= MAX_TTL_SECONDS)) {
    const wanted = `must be a number above 0 and at most ${MAX_TTL_SECONDS}`;
    throw badRequest('ttlSeconds', `${wanted}, not ${describeValue(ttlSeconds)}.`);
  }
  return { spec: readSpec(spec), ttlSeconds };
}

/** Reads a spec from the body, in the key `where`. @throws BadRequestException */
export function readSpec(given: unknown, where = 'spec'): string {
  if (typeof given !== 'string') {
    const wanted = `must be a string of at most ${MAX_SPEC_CHARACTERS} characters, such as "per_request"`;
    throw badRequest(where, `${wanted}, not ${describeValue(given)}.`);
  }
  if (given.length > MAX_SPEC_CHARACTERS) {
    throw badRequest(where, `has ${given.length} characters; at most ${MAX_SPEC_CHARACTERS} are allowed.`);
  }
  const problem = specProblem(given);
  if (problem !== undefined) throw badRequest(where, `${problem}.`);
  return given;
}
