import { indexRegistry } from '../groups/registry-index.js';
import { resolveSpec, parseSpanGroupSpec, specProblem } from '../groups/span-group-spec.js';
import type { RequestOptIn } from '../state/request-opt-in-state.js';
import { countOptIn, type OptInProblem } from './opt-in-outcome.js';
import { beginHold, type OptInHold } from './opt-in-hold.js';
import { verifyText } from './signed-groups.js';

/** NestLens can't notice the end of some requests, such as messages. Their gates stay open for this long, in milliseconds. */
const UNCLAIMED_MS = 30_000;
/** At most this many of those requests have a timer. If there are more, the gates are open anyway. */
const MAX_UNCLAIMED = 1_000;
/** A request that came in time is traced for at least this long, in milliseconds, even if its header expires. */
const LEAST_MS = 60_000;

/** An object that tells the end of a request: Node's response, of HTTP/1 or 2. */
interface ClosingResponse {
  once(event: 'close', listener: () => void): unknown;
}

/** A request or message with a signed header that was accepted. */
export interface AdmittedRequest {
  /** What is on for it. */
  readonly groups: ReadonlySet<string>;
  /** The signed text, to send on. */
  readonly text: string;
  readonly expiresAt: number;
  hold: OptInHold | undefined;
  isClaimed: boolean;
}

const requests = new WeakMap<ReadonlySet<string>, AdmittedRequest>();

/** The request whose groups are on in a context. */
export function admittedRequestOf(groups: ReadonlySet<string> | undefined): AdmittedRequest | undefined {
  return groups && requests.get(groups);
}

/** The verdicts on requests, so that a request with several readers is judged and counted once. */
const judged = new WeakMap<object, AdmittedRequest | 'ignored'>();

/**
 * Judges a header. If it is accepted, the gates are open from now on.
 *
 * @param carrier the object that the header was found in
 */
export function admitRequest(
  optIn: RequestOptIn,
  carrier: object,
  given: string | readonly string[],
): AdmittedRequest | undefined {
  const known = judged.get(carrier);
  if (known === 'ignored') return undefined;
  if (known?.hold?.isOver === false) return known;
  const found = judge(optIn, given);
  countOptIn(optIn, typeof found === 'string' ? found : 'accepted');
  judged.set(carrier, typeof found === 'string' ? 'ignored' : found);
  if (typeof found === 'string') return undefined;
  requests.set(found.groups, found);
  if (optIn.ends.size < MAX_UNCLAIMED) found.hold = beginHold(optIn, found.groups, UNCLAIMED_MS);
  return found;
}

/** Closes the gates when the response closes, whether it was sent or the client left. */
export function holdUntilClosed(
  optIn: RequestOptIn,
  request: AdmittedRequest,
  response: ClosingResponse,
): void {
  if (request.isClaimed) return;
  request.isClaimed = true;
  const ms = Math.max(request.expiresAt - Date.now(), LEAST_MS);
  if (request.hold === undefined || request.hold.isOver) request.hold = beginHold(optIn, request.groups, ms);
  else request.hold.endIn(ms);
  const { hold } = request;
  response.once('close', () => hold.end());
}

function judge(
  { keys, allow }: RequestOptIn,
  given: string | readonly string[],
): AdmittedRequest | OptInProblem {
  if (typeof given !== 'string' && given.length > 1) return 'duplicate';
  const text = typeof given === 'string' ? given : String(given[0]);
  const verified = verifyText(text, keys, Date.now());
  if (typeof verified === 'string') return verified;
  const { spec, expiresAt } = verified;
  if (specProblem(spec) !== undefined) return 'malformed';
  const index = indexRegistry();
  const { enabled: asked } = resolveSpec(parseSpanGroupSpec(spec), index);
  const { enabled: allowed } = resolveSpec(allow, index);
  const groups = new Set([...asked].filter((group) => allowed.has(group)));
  if (groups.size === 0) return 'notAllowed';
  return { groups, text, expiresAt, hold: undefined, isClaimed: false };
}
