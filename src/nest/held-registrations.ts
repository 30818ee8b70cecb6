import type { SpanGroupDefinition } from '../core/groups/define-span-groups.js';
import { processState } from '../core/state/process-state.js';
import type { NamespaceRegistration } from '../core/state/state-shape.js';
import { normaliseRegistration } from '../core/groups/registry-index.js';
import { SpanRegistry } from '../core/groups/span-registry.js';

/**
 * Registers a definition for an application, and counts who holds on to it: the same content registered again (another
 * application, a module imported twice) is the same registration.
 *
 * @returns whether the application now holds it and has to release it; not so for what was registered by other means
 * @throws SpanRegistryError for other content under a namespace that is taken, unless the definition allows overriding
 */
export function holdRegistration(definition: SpanGroupDefinition): boolean {
  const { namespace, allowOverride = false } = definition;
  // Read once: the iterables may be generators.
  const wanted = normaliseRegistration(definition.groups, definition.presets ?? {});
  const known = processState.namespaces.get(namespace);
  const holds = processState.holds.get(namespace) ?? 0;
  if (known !== undefined && isSame(known, wanted)) {
    if (holds === 0) return false;
  } else {
    SpanRegistry.register(namespace, wanted.groups, Object.fromEntries(wanted.presets), { allowOverride });
  }
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

function isSame(a: NamespaceRegistration, b: NamespaceRegistration): boolean {
  if (!isSameSet(a.groups, b.groups) || a.presets.size !== b.presets.size) return false;
  for (const [preset, members] of a.presets) {
    const others = b.presets.get(preset);
    if (others === undefined || !isSameSet(members, others)) return false;
  }
  return true;
}

function isSameSet(a: ReadonlySet<string>, b: ReadonlySet<string>): boolean {
  if (a.size !== b.size) return false;
  for (const item of a) if (!b.has(item)) return false;
  return true;
}
