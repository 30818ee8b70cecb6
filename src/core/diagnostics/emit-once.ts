import { processState } from '../state/process-state.js';
import { emitWarnings, type Warning } from './warnings.js';

/** Beyond this many different ones nothing is said: names may be made up at run time. */
const MAX_SAID = 1_000;

/** Warns about something on a hot path: once for each text that names it, such as a site, until the state is reset. */
export function emitOnce(what: string, warning: Warning): void {
  const { said } = processState;
  const key = `${warning.code} ${what}`;
  if (said.has(key) || said.size >= MAX_SAID) return;
  said.add(key);
  emitWarnings([warning]);
}
