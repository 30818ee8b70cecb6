import { processState } from '../state/process-state.js';

/** Remembers an error that `EXPORT_FAILED` has reported, or would report after ten minutes. */
export function noteSaidFailure(error: unknown): void {
  if (typeof error === 'object' && error !== null) processState.saidFailures.add(error);
}

/** Whether a warning has reported this error. Another copy may have given it: the one whose exporter failed. */
export function isSaidFailure(error: unknown): boolean {
  return typeof error === 'object' && error !== null && processState.saidFailures.has(error);
}
