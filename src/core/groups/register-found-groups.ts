import { emitWarnings } from '../diagnostics/warnings.js';
import { processState } from '../state/process-state.js';
import type { NamespaceRegistration } from '../state/state-shape.js';
import { resolveLayer } from './span-group-state.js';

/**
 * Registers groups that NestLens finds by itself. They replace what the namespace had, and the only thing that is said is what
 * they mean for the spec: nobody could register them earlier, or call them something else in code of their own.
 */
export function registerFoundGroups(namespace: string, registration: NamespaceRegistration): void {
  processState.namespaces.set(namespace, registration);
  emitWarnings(resolveLayer());
}
