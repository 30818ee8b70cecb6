import { processState } from '../core/state/process-state.js';
import {
  isSameRegistration,
  readDefinition,
  type SpanGroupDefinition,
} from '../core/groups/span-group-definition.js';
import { registerDefinition, SpanRegistry } from '../core/groups/span-registry.js';

/**
 * Registers a definition for an application, and counts who holds on to it: the same content registered again (another
 * application, a module imported twice) is the same registration.
 *
 * @returns whether the application now holds it and has to release it; not so for what was registered by other means
 * @throws SpanRegistryError for other content under a namespace that is taken, unless the definition allows overriding
 */
export function holdRegistration(definition: SpanGroupDefinition): boolean {
  const read = readDefinition(definition, 'NestLensModule');
  const { namespace } = read;
  const known = processState.namespaces.get(namespace);
  const holds = processState.holds.get(namespace) ?? 0;
  if (known === undefined || !isSameRegistration(known, read)) registerDefinition(read);
  else if (holds === 0) return false;
  processState.holds.set(namespace, holds + 1);
  return true;
}

/** Gives a registration up; the last one to do so removes the namespace. */
export function releaseRegistration(namespace: string): void {
  const holds = (processState.holds.get(namespace) ?? 0) - 1;
  if (holds > 0) {
    processState.holds.set(namespace, holds);
    return;
  }
  processState.holds.delete(namespace);
  if (processState.namespaces.has(namespace)) SpanRegistry.unregister(namespace);
}
