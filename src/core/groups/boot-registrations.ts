import { emitWarnings } from '../diagnostics/warnings.js';
import { processState } from '../state/process-state.js';
import { indexRegistry } from './registry-index.js';
import { judgeTracedFunctions } from './traced-functions.js';
import { unownedMembers } from './registration-warnings.js';

/**
 * An application begins to boot. Its modules register one after the other, in Nest's order, so a preset may name a group that
 * comes a moment later: whether somebody has registered it is judged by {@link endBoot}.
 */
export function beginBoot(): void {
  processState.registeredInBoot ??= new Set();
}

/** Every module has registered. Says which presets name groups that nobody has. Without a boot it does nothing. */
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
