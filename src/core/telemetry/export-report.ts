import { exportFailureOf } from '../diagnostics/export-failure.js';
import { noteSaidFailure } from '../diagnostics/said-failures.js';
import { emitWarnings } from '../diagnostics/warnings.js';
import { processState } from '../state/process-state.js';
import type { ExportCounts } from '../state/telemetry-state.js';

/** A failure that lasts is reported again after this time, in milliseconds. */
const SAY_AGAIN_MS = 10 * 60_000;

/** Counts the exported spans of one exporter, and reports when exports begin to fail and when they work again. */
export class ExportReport {
  /** The time of the last report of a failure, in milliseconds of `performance.now()`. */
  private saidAt = -Infinity;
  private isRecoveryDue = false;
  private isOver = false;

  constructor(private readonly counts: ExportCounts) {}

  /** Stops reporting. */
  end(): void {
    this.isOver = true;
  }

  succeeded(spans: number): void {
    this.counts.spansExported += spans;
    this.counts.lastExportAt = Date.now();
    if (!this.isRecoveryDue || this.isOver) return;
    this.isRecoveryDue = false;
    emitWarnings([{ code: 'EXPORT_RECOVERED', details: { spansLost: this.counts.spansLost } }]);
  }

  failed(spans: number, error: unknown): void {
    this.counts.spansLost += spans;
    // The shutdown reports failures that happen during it.
    if (this.isOver || processState.telemetry.phase === 'stopping') return;
    noteSaidFailure(error);
    const now = performance.now();
    if (now - this.saidAt < SAY_AGAIN_MS) return;
    this.saidAt = now;
    this.isRecoveryDue = true;
    const { spansLost } = this.counts;
    const failure = exportFailureOf(error);
    emitWarnings([{ code: 'EXPORT_FAILED', details: { failure, error, spansLost } }]);
  }
}
