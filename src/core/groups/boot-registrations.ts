import { emitWarnings } from '../diagnostics/warnings.js';
import { processState } from '../state/process-state.js';
import { indexRegistry } from './registry-index.js';
import { judgeTracedFunctions } from './traced-functions.js';
import { unownedMembers } from './registration-warnings.js';

/**
 * Called when an application begins to boot. Its modules register one after the other, so a preset may name a group that
 * another module registers a moment later. {@link endBoot} checks those names.
 *
 * @param application an object that stands for it
 */
export function beginBoot(application: object): void {
  processState.booting.add(application);
  processState.registeredInBoot ??= new Set();
}

/**
 * Called when an application closes. If it has not booted to the end, its modules have not all registered, so nothing is said
 * of them. Unless another application boots, everything is judged at once again from now on.
 */
export function abandonBoot(application: object): void {
  const { booting } = processState;
  if (booting.delete(application) && booting.size === 0) processState.registeredInBoot = undefined;
}

/** Called when every module has registered. Warns about presets with members that no namespace has registered. */
export function endBoot(): void {
  const { booting, registeredInBoot, namespaces } = processState;
  if (registeredInBoot === undefined) return;
  // All of them, because one that could not be made is never closed.
  booting.clear();
  processState.registeredInBoot = undefined;
  const index = indexRegistry();
  const registered = [...namespaces].filter(([namespace]) => registeredInBoot.has(namespace));
  emitWarnings(
    registered.flatMap(([namespace, registration]) => unownedMembers(namespace, registration, index)),
  );
  judgeTracedFunctions();
}
