import { processState } from '../state/process-state.js';
import { emitWarnings, type Warning } from './warnings.js';

/** The largest number of different warnings. Code can make up names at run time. */
const MAX_SAID = 1_000;

/** Gives a warning from a hot path once for each text, such as a site, until the state is reset. */
export function emitOnce(what: string, warning: Warning): void {
  const { said } = processState;
  const key = `${warning.code} ${what}`;
  if (said.has(key) || said.size >= MAX_SAID) return;
  said.add(key);
  emitWarnings([warning]);
}
