import { setTimeout } from 'node:timers';
import { BOOLEAN_WORDS } from '../diagnostics/boolean-words.js';
import { emitOnce } from '../diagnostics/emit-once.js';
import { isSdkDisabled } from '../diagnostics/sdk-disabled.js';
import { FALLBACK_PREFIX, PREFIX } from '../diagnostics/variable-prefixes.js';
import { processState } from '../state/process-state.js';

/** NestLens expects a set-up within this time after the first site was decorated, in milliseconds. */
const MISSED_AFTER_MS = 10_000;

let hasLooked = false;

/**
 * Called when a site is decorated. If the environment enables telemetry but nothing sets it up in time, one warning says so.
 * A process that ends earlier, such as a command, gets no warning, and the timer does not keep it alive. Where the
 * environment enables nothing, as in tests, there is no timer.
 */
export function missSetUpLater(): void {
  if (hasLooked) return;
  hasLooked = true;
  if (!isEnabledByEnvironment()) return;
  // This is Node's own timer, so that fake timers of tests don't touch it.
  setTimeout(reportMissingSetUp, MISSED_AFTER_MS).unref();
}

/** Called when an application has a module that will set telemetry up, however long its start takes. */
export function expectSetUp(): void {
  processState.isSetUpExpected = true;
}

/** Exported so that tests needn't wait. */
export function reportMissingSetUp(): void {
  const { isSetUpExpected, telemetry, pinned, configured, applications } = processState;
  const isSomebodyThere = isSetUpExpected || pinned || configured !== undefined || applications.size > 0;
  if (isSomebodyThere || telemetry.phase !== 'off' || !isEnabledByEnvironment()) return;
  emitOnce('', { code: 'ROOT_MISSING', details: { has: 'nothing' } });
}

function isEnabledByEnvironment(): boolean {
  const value = [PREFIX, FALLBACK_PREFIX]
    .map((prefix) => process.env[`${prefix}_ENABLED`]?.trim())
    .find(Boolean);
  return BOOLEAN_WORDS.get(value?.toLowerCase() ?? '') === true && !isSdkDisabled();
}
