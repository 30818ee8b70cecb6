import { emitWarnings } from '../diagnostics/warnings.js';
import type { RequestOptIn } from '../state/request-opt-in-state.js';
import type { SignedTextProblem } from './signed-groups.js';

/** The reason why a header turned nothing on. `notAllowed`: none of its groups is registered here and allowed. */
export type OptInProblem = SignedTextProblem | 'notAllowed';

/** The outcome of a request with the header. */
export type OptInOutcome = 'accepted' | OptInProblem;

/** Everybody can send such headers, so each problem is logged at most once in this many milliseconds. */
const SAID_AGAIN_AFTER_MS = 600_000;

/** Counts a request. It never quotes the header: a forged one may say anything, and a signed one is a pass until it expires. */
export function countOptIn({ counts, saidAt }: RequestOptIn, outcome: OptInOutcome): void {
  const requests = (counts.get(outcome) ?? 0) + 1;
  counts.set(outcome, requests);
  if (outcome === 'accepted') return;
  const now = performance.now();
  const last = saidAt.get(outcome);
  if (last !== undefined && now - last < SAID_AGAIN_AFTER_MS) return;
  saidAt.set(outcome, now);
  emitWarnings([{ code: 'REQUEST_OPT_IN_IGNORED', details: { problem: outcome, requests } }]);
}
