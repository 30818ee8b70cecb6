import { emitWarnings } from '../diagnostics/warnings.js';
import { processState } from '../state/process-state.js';
import type { RecentTraces } from '../state/recent-traces-state.js';
import { keepSpan } from '../traces/keep-span.js';
import { hearOfEndedSpans } from './hear-of-ended-spans.js';
import { registeredTracerProvider } from './otel-globals.js';

/** What one application asks for. */
export interface AskedForRecentTraces {
  /** The number of traces to keep. If several applications ask, the highest number counts. */
  readonly limit: number;
  /** The routes of the endpoint that shows them, in the form of `http.route`. */
  readonly ownRoutes: Iterable<string>;
}

/** Keeps the last traces of this process from now on, until telemetry is shut down. While telemetry is off, it keeps none. */
export function keepRecentTraces({ limit, ownRoutes }: AskedForRecentTraces): void {
  const { telemetry } = processState;
  if (telemetry.phase !== 'live') return;
  const kept = (processState.recentTraces ??= begin());
  kept.limit = Math.max(kept.limit, limit);
  for (const route of ownRoutes) kept.ownRoutes.add(route);
}

/** Forgets them, because they belong to one set-up. */
export function forgetRecentTraces(): void {
  processState.recentTraces?.stop();
  processState.recentTraces = undefined;
}

function begin(): RecentTraces {
  const kept: RecentTraces = {
    limit: 0,
    ownRoutes: new Set(),
    finished: new Map(),
    open: new Map(),
    bytes: 0,
    stop: () => stop?.(),
  };
  const stop = hearOfEndedSpans((span) => keepSpan(kept, span));
  if (stop === undefined && registeredTracerProvider() !== undefined) {
    emitWarnings([{ code: 'RECENT_TRACES_UNSEEN', details: {} }]);
  }
  return kept;
}
