import { emitWarnings } from '../diagnostics/warnings.js';
import { processState } from '../state/process-state.js';
import type { KeptSpan, RecentTraces } from '../state/recent-traces.js';
import { keepSpan } from '../traces/keep-span.js';
import { registeredTracerProvider } from './otel-globals.js';
import { processorsOf } from './private-fields.js';
import type { SpanProcessorLike } from './setup-options.js';

/** What an application asks for. */
export interface AskedForRecentTraces {
  /** How many traces are kept. Where several applications ask, the highest number counts. */
  readonly limit: number;
  /** The routes of the endpoint that shows them, as `http.route` has them. */
  readonly ownRoutes: Iterable<string>;
}

/** Keeps the last traces of this process from now on, until telemetry is shut down. While telemetry is off there are none. */
export function keepRecentTraces({ limit, ownRoutes }: AskedForRecentTraces): void {
  const { telemetry } = processState;
  if (telemetry.phase !== 'live') return;
  const kept = (processState.recentTraces ??= begin());
  kept.limit = Math.max(kept.limit, limit);
  for (const route of ownRoutes) kept.ownRoutes.add(route);
}

/** Forgets them: they belong to one set-up. */
export function forgetRecentTraces(): void {
  processState.recentTraces?.stop();
  processState.recentTraces = undefined;
}

/** Hears of the spans by a processor behind all others, so that it sees what those have taken out of a span. */
function begin(): RecentTraces {
  const provider = registeredTracerProvider();
  const processors = provider && processorsOf(provider);
  const kept: RecentTraces = {
    limit: 0,
    ownRoutes: new Set(),
    finished: new Map(),
    open: new Map(),
    bytes: 0,
    stop() {
      const at = processors?.indexOf(processor) ?? -1;
      if (at >= 0) processors?.splice(at, 1);
    },
  };
  const processor = createProcessor(kept);
  if (processors !== undefined) processors.push(processor);
  else if (provider !== undefined) emitWarnings([{ code: 'RECENT_TRACES_UNSEEN', details: {} }]);
  return kept;
}

function createProcessor(kept: RecentTraces): SpanProcessorLike {
  return {
    onStart: () => undefined,
    onEnd(span: KeptSpan) {
      try {
        keepSpan(kept, span);
      } catch {
        // A span of another shape: it isn't shown, and nobody is hurt.
      }
    },
    forceFlush: () => Promise.resolve(),
    shutdown: () => Promise.resolve(),
  };
}
