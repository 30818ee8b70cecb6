import { emitWarnings } from '../diagnostics/warnings.js';
import type { RequestOptIn } from '../state/state-shape.js';
import type { SignedTextProblem } from './signed-groups.js';

/** Why a header turned nothing on; `notAllowed`: nothing that it names is registered here and allowed. */
export type OptInProblem = SignedTextProblem | 'notAllowed';

/** What became of a request that brought the header. */
export type OptInOutcome = 'accepted' | OptInProblem;

/** Anybody can send such headers: each problem is said at most this often, in milliseconds. */
const SAID_AGAIN_AFTER_MS = 600_000;

/** Counts a request. What the header says is never quoted: it may be forged, and what is signed is a pass until it expires. */
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
