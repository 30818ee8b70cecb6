import { emitWarnings } from '../../core/diagnostics/warnings.js';
import { GIVING_WAY } from '../../core/groups/registration-origin.js';
import { registerFoundGroups } from '../../core/groups/register-found-groups.js';
import { isSameRegistration } from '../../core/groups/span-group-definition.js';
import { resolveLayer } from '../../core/groups/span-group-state.js';
import { processState } from '../../core/state/process-state.js';
import type { HeldByApplication } from '../../core/state/held-by-application.js';
import type { AutoGroupKind } from '../span-group/handler-span.js';

/**
 * The namespaces of the groups in the registry, which all applications of the process share. The second one is used if the
 * first is taken.
 */
const NAMESPACES = ['auto', 'auto_groups'];
const ORIGIN = { api: GIVING_WAY };

/** Registers the groups of an application's `autoGroups`, except those that are registered already. */
export function registerAutoGroups(
  held: HeldByApplication,
  groups: ReadonlyMap<AutoGroupKind, string>,
): void {
  if (groups.size === 0) return;
  held.autoGroups = { handlers: groups.get('handlers'), all: new Set(groups.values()) };
  processState.applications.add(held);
  renewAutoRegistration();
}

/** Called when an application has gone, or when its names may have been registered elsewhere. */
export function renewAutoRegistration(): void {
  const { namespaces } = processState;
  const isOurs = (namespace: string): boolean => namespaces.get(namespace)?.origin.api === ORIGIN.api;
  const namespace =
    NAMESPACES.find(isOurs) ?? NAMESPACES.find((name) => !namespaces.has(name)) ?? NAMESPACES[0]!;
  const before = namespaces.get(namespace);
  const taken = new Set([...namespaces].flatMap(([name, { groups }]) => (isOurs(name) ? [] : groups)));
  const asked = [...processState.applications].flatMap(({ autoGroups }) => autoGroups ?? []);
  const groups = [...new Set(asked.flatMap(({ all }) => [...all]))]
    .filter((group) => !taken.has(group))
    .sort();
  if (groups.length === 0) {
    if (isOurs(namespace) && namespaces.delete(namespace)) emitWarnings(resolveLayer());
    return;
  }
  const handlers = groups.filter((group) => asked.some((one) => one.handlers === group));
  const presets: Record<string, string[]> =
    handlers.length === 0 ? {} : { default: handlers, per_request: handlers };
  const registration = { groups, presets, origin: ORIGIN };
  if (before === undefined || !isSameRegistration(before, registration)) {
    registerFoundGroups(namespace, registration);
  }
}
