import { emitWarnings } from '../diagnostics/warnings.js';
import { processState } from '../state/process-state.js';
import type { NamespaceRegistration } from '../state/state-shape.js';
import { resolveLayer } from './span-group-state.js';

/**
 * Registers groups that NestLens has found by itself. They replace the namespace's earlier groups. It warns only about the
 * spec, because these groups can't be registered earlier or under other names.
 */
export function registerFoundGroups(namespace: string, registration: NamespaceRegistration): void {
  processState.namespaces.set(namespace, registration);
  emitWarnings(resolveLayer());
}
