import { setTimeout } from 'node:timers';
import { BOOLEAN_WORDS } from '../diagnostics/boolean-words.js';
import { emitOnce } from '../diagnostics/emit-once.js';
import { processState } from '../state/process-state.js';

/** How long after the first site was decorated a set-up is missed, in milliseconds: an application has begun its start by then. */
const MISSED_AFTER_MS = 10_000;

let hasLooked = false;

/**
 * Called where a site is decorated: an application whose environment enables telemetry by then, and in which nothing ever sets it up,
 * is told so, once. A process that ends before, such as a command, hears nothing, and isn't kept alive; where the environment
 * enables nothing, as in tests, there is no timer.
 */
export function missSetUpLater(): void {
  if (hasLooked) return;
  hasLooked = true;
  if (!isEnabledByEnvironment()) return;
  // Node's own timer, which a test's fake timers leave alone.
  setTimeout(reportMissingSetUp, MISSED_AFTER_MS).unref();
}

/** Somebody is going to set telemetry up: a start may take longer than that. */
export function expectSetUp(): void {
  processState.isSetUpExpected = true;
}

/** Exported for tests, which don't wait. */
export function reportMissingSetUp(): void {
  const { isSetUpExpected, telemetry, pinned, configured, applications } = processState;
  const isSomebodyThere = isSetUpExpected || pinned || configured !== undefined || applications.size > 0;
  if (isSomebodyThere || telemetry.phase !== 'off' || !isEnabledByEnvironment()) return;
  emitOnce('', { code: 'ROOT_MISSING', details: { has: 'nothing' } });
}

function isEnabledByEnvironment(): boolean {
  const { env } = process;
  const enabled = env['NEST_LENS_ENABLED']?.trim() || env['NEMO_LENS_ENABLED']?.trim() || '';
  const isSdkDisabled = env['OTEL_SDK_DISABLED']?.trim().toLowerCase() === 'true';
  return BOOLEAN_WORDS.get(enabled.toLowerCase()) === true && !isSdkDisabled;
}
