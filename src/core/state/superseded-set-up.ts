import { processState } from './process-state.js';

/**
 * Whether every application that uses the shared set-up is closing, or it is shutting down: whoever starts now takes its place,
 * as after a hot reload, with options and groups of its own.
 */
export function isSetUpSuperseded(): boolean {
  const { shared, telemetry, applications } = processState;
  if (shared === undefined) return telemetry.phase === 'stopping';
  return [...applications].every((each) => each.telemetry !== shared || each.isClosing);
}
