import { emitWarnings } from '../diagnostics/warnings.js';
import { processState } from '../state/process-state.js';
import { indexRegistry } from './registry-index.js';
import { judgeTracedFunctions } from './traced-functions.js';
import { unownedMembers } from './registration-warnings.js';

/**
 * Called when an application begins to boot. Its modules register one after the other, so a preset may name a group that
 * another module registers a moment later. {@link endBoot} checks those names.
 */
export function beginBoot(): void {
  processState.registeredInBoot ??= new Set();
}

/**
 * Called when an application closes that has not booted to the end. Its modules have not all registered, so nothing is said
 * of them, but from now on everything is judged at once again.
 */
export function abandonBoot(): void {
  processState.registeredInBoot = undefined;
}

/** Called when every module has registered. Warns about presets with members that no namespace has registered. */
export function endBoot(): void {
  const { registeredInBoot, namespaces } = processState;
  if (registeredInBoot === undefined) return;
  processState.registeredInBoot = undefined;
  const index = indexRegistry();
  const registered = [...namespaces].filter(([namespace]) => registeredInBoot.has(namespace));
  emitWarnings(
    registered.flatMap(([namespace, registration]) => unownedMembers(namespace, registration, index)),
  );
  judgeTracedFunctions();
}
