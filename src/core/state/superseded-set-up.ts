import { processState } from './process-state.js';

/**
 * Whether every application that uses the shared set-up is closing, or it is shutting down. An application that starts then
 * takes its place, as after a hot reload, with its own options and groups.
 */
export function isSetUpSuperseded(): boolean {
  const { shared, telemetry, applications } = processState;
  if (shared === undefined) return telemetry.phase === 'stopping';
  return [...applications].every((each) => each.telemetry !== shared || each.isClosing);
}
