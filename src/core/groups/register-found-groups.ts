import { emitWarnings } from '../diagnostics/warnings.js';
import { processState } from '../state/process-state.js';
import type { NamespaceRegistration } from '../state/state-shape.js';
import { activeLayer } from './active-layer.js';
import { shadowing } from './registration-warnings.js';
import { indexRegistry } from './registry-index.js';
import { resolveLayer } from './span-group-state.js';

/**
 * Registers groups that NestLens has found by itself. They replace the namespace's earlier groups. The function warns about the
 * spec, and once about names that are now both a preset and a group. The other warnings about registrations don't apply, because
 * these groups can't be registered earlier.
 */
export function registerFoundGroups(namespace: string, registration: NamespaceRegistration): void {
  const before = indexRegistry();
  processState.namespaces.set(namespace, registration);
  const index = indexRegistry();
  const resolution = resolveLayer(activeLayer(), index);
  emitWarnings([...shadowing({ namespace, ...registration }, index, before), ...resolution]);
}
