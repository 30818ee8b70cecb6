import { type Meter, metrics, type Tracer, trace } from '@opentelemetry/api';
import { SCOPE_NAME } from '../spans/lens-tracer.js';
import { processState } from '../state/process-state.js';
import type { Pipeline } from '../state/telemetry-state.js';
import { VERSION } from '../state/version.js';
import { shutDownPipeline } from './shut-down-pipeline.js';
import { onBeforeExit } from './on-before-exit.js';
import { allEnded, DEFAULT_TIMEOUT_MS, settleWithin } from './with-timeout.js';

/** What `setupTelemetry` returns: the way to flush and to end telemetry. */
export interface TelemetryHandle {
  /** The tracer named `nest-lens` of the provider in force. */
  readonly tracer: Tracer;
  /** The meter named `nest-lens` of the provider in force. */
  readonly meter: Meter;
  /** Whether spans are exported. */
  readonly isExporting: boolean;
  /** `own`: the SDK was started by this set-up; `attach`: the application's provider is used; null: disabled. */
  readonly mode: 'own' | 'attach' | null;
  /**
   * Exports what is waiting, and waits for exports under way. Settles within the limit and never rejects; a failure is a
   * warning.
   *
   * @param timeoutMs milliseconds; a value that isn't a number of 0 or more, such as NaN, counts as the default. Default: 5,000
   */
  forceFlush(timeoutMs?: number): Promise<void>;
  /**
   * Flushes, ends what this set-up built, turns every group off, and allows a new set-up. Repeated and concurrent calls get
   * the same promise. Settles within the limit and never rejects; a failure is one warning. A provider of the application is
   * flushed, and not shut down. A process that has nothing left to do does this by itself before it ends.
   *
   * @param timeoutMs milliseconds; a value that isn't a number of 0 or more, such as NaN, counts as the default. Default: 5,000
   */
  shutdown(timeoutMs?: number): Promise<void>;
}

/** The additional members for the Nest layer. */
export interface ClosingHandle extends TelemetryHandle {
  /** @param limitMs the application's limit, if `timeoutMs` is only the rest of it; warnings name it */
  shutdown(timeoutMs?: number, limitMs?: number): Promise<void>;
}

/** The parts of a handle. */
export interface HandleParts {
  readonly pipeline: Pipeline;
  readonly mode: 'own' | 'attach' | null;
  /** The longest time, in milliseconds, that the end of an idle process is delayed. */
  readonly drainLimitMs: number;
  /** Called when the shutdown begins: forgets everything that the set-up has put in force. */
  readonly forget: () => void;
}

export function createHandle({ pipeline, mode, drainLimitMs, forget }: HandleParts): ClosingHandle {
  let stopped: Promise<void> | undefined;
  const shutdown = (timeoutMs = DEFAULT_TIMEOUT_MS, limitMs = timeoutMs): Promise<void> => {
    stopWaiting();
    return (stopped ??= stop({ pipeline, mode, timeoutMs, limitMs, forget }));
  };
  const stopWaiting = mode === null ? () => undefined : onBeforeExit(() => void shutdown(drainLimitMs));
  return {
    get tracer() {
      return trace.getTracer(SCOPE_NAME, VERSION);
    },
    get meter() {
      return metrics.getMeter(SCOPE_NAME, VERSION);
    },
    get isExporting() {
      return pipeline.isExporting && stopped === undefined;
    },
    mode,
    forceFlush: (timeoutMs = DEFAULT_TIMEOUT_MS) =>
      settleWithin(timeoutMs, [() => allEnded([pipeline.flushSpans(), pipeline.flushMetrics()])]),
    shutdown,
  };
}

interface Stop {
  readonly pipeline: Pipeline;
  readonly mode: 'own' | 'attach' | null;
  readonly timeoutMs: number;
  readonly limitMs: number;
  readonly forget: () => void;
}

async function stop({ pipeline, mode, timeoutMs, limitMs, forget }: Stop): Promise<void> {
  if (mode === null) return forget();
  const { telemetry } = processState;
  telemetry.phase = 'stopping';
  telemetry.forceFlush = undefined;
  // It forgets at once, so that a pin or a set-up during the shutdown lasts.
  forget();
  telemetry.stopped = shutDownPipeline(pipeline, timeoutMs, limitMs);
  await telemetry.stopped;
  forgetPipeline();
  telemetry.stopped = undefined;
  // A set-up that waited for this shutdown may have changed the phase already.
  if ((telemetry.phase as string) === 'stopping') telemetry.phase = 'off';
}

/** Forgets what the state says of a pipeline that has ended. */
export function forgetPipeline(): void {
  Object.assign(processState.telemetry, { exporting: false, mode: null, exports: undefined });
}
