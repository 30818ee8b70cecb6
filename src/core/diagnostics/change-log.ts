import { processState } from '../state/process-state.js';
import type { SpanGroupChange } from '../state/span-group-change.js';
import { quoteDetails } from './quote-details.js';
import { tellLogger } from './tell-logger.js';

/**
 * Logs a change as information, in one line: with the logger that was set, if it takes information, else with Nest's. Without
 * either it prints nothing, because the output of a program that uses the core alone belongs to that program.
 */
export function logChange(change: SpanGroupChange): void {
  const logger = [processState.logger, processState.defaultLogger].find((one) => one?.info !== undefined);
  if (logger !== undefined) tellLogger(() => logger.info?.(messageOf(change), change));
}

function messageOf(change: SpanGroupChange): string {
  const { before, after, until, by } = quoteDetails(change);
  const end = until === null ? '' : `, until ${until}`;
  return `The span group spec in force changed from '${before}' to '${after}'${end}, by ${by ?? 'an unknown caller'}.`;
}
