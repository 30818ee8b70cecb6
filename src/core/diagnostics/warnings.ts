import type { LensLogger } from '../state/lens-warning.js';
import { foreignState, processState } from '../state/process-state.js';
import { VERSION } from '../state/version.js';
import { argumentError } from './argument-error.js';
import { NOT_SHOWN } from './quote-details.js';
import { tellLogger } from './tell-logger.js';
import type { Warning } from './warning-details.js';
import { messageOf } from './warning-messages.js';

export type { Warning };

const MAX_RECORDED = 100;

const consoleLogger: LensLogger = {
  warn(message) {
    console.warn(`[NestLens] ${message}`);
  },
};

/** Logs and records warnings. Never throws: a logger that throws, rejects or calls back into the registry loses no warning. */
export function emitWarnings(warnings: readonly Warning[]): void {
  for (const warning of warnings) {
    if (processState.silenced.has(warning.code)) continue;
    recordWarning(warning);
    const message = messageOf(warning);
    const logger = processState.logger ?? processState.defaultLogger ?? consoleLogger;
    tellLogger(() => logger.warn(message, { code: warning.code, message, details: { ...warning.details } }));
  }
}

/** Records a warning for `GET /lens/groups` without logging it. The record quotes no error. */
export function recordWarning(warning: Warning): void {
  const shown = 'error' in warning.details ? { ...warning.details, error: NOT_SHOWN } : warning.details;
  const message = messageOf({ code: warning.code, details: shown } as Warning);
  const { recordedWarnings } = processState;
  if (recordedWarnings.length >= MAX_RECORDED) recordedWarnings.shift();
  recordedWarnings.push({ code: warning.code, message, at: Date.now() });
}

/**
 * Sends NestLens's warnings to a logger of your own, for the whole process. Until it is called they go to the console, and to
 * Nest's `Logger` (context `NestLens`) once `NestLensModule` runs. NestLens ignores what the logger throws.
 *
 * @param logger gets each warning in `warn(message, warning)`; with an `info(message, change)` it gets changes of the spec, too
 * @throws TypeError if it has no method `warn`
 *
 * @example
 * setLensLogger({ warn: (message, { code }) => pino.warn({ code }, message) });
 */
export function setLensLogger(logger: LensLogger): void {
  if (typeof (logger as Partial<LensLogger> | null | undefined)?.warn !== 'function') {
    throw argumentError('setLensLogger: logger', 'an object with a method warn(message, warning)', logger);
  }
  processState.logger = logger;
}

/** Reports once that the process has state of another protocol. It is called where something first uses the state. */
export function reportForeignState(): void {
  if (foreignState === undefined || processState.foreignReported) return;
  processState.foreignReported = true;
  emitWarnings([
    {
      code: 'STATE_PROTOCOL_MISMATCH',
      details: { version: VERSION, otherKey: foreignState.key, otherVersion: foreignState.version },
    },
  ]);
}
