import { NestFactory } from '@nestjs/core';
import { emitOnce } from '../core/diagnostics/emit-once.js';
import { emitWarnings, type Warning } from '../core/diagnostics/warnings.js';
import type { MissedCalls } from '../core/groups/missed-calls.js';
import { nearestName } from '../core/groups/nearest-name.js';
import { SpanRegistry } from '../core/groups/span-registry.js';
import { processState } from '../core/state/process-state.js';
import type { InstrumentationLike } from '../core/state/early-start-state.js';
import { patchedModules } from '../core/private-fields/private-fields.js';
import { isSdkDisabled } from '../core/diagnostics/sdk-disabled.js';
import { resolveConfig } from '../core/telemetry/config-from-env.js';
import type { SpanSites } from './introspection/span-sites.js';

/** Decorated methods whose group is not registered, so that they can never be on. Sorted by site. */
export function unknownGroups(sites: SpanSites): Warning[] {
  const registered = SpanRegistry.groups();
  // Every site has a gate. Measured: reading the methods of a thousand controllers takes 3 ms of a boot.
  if ([...processState.gates.keys()].every((group) => registered.has(group))) return [];
  const nearest = new Map<string, string | undefined>();
  return [...sites.outside(registered)]
    .sort((a, b) => (a.site < b.site ? -1 : a.site > b.site ? 1 : 0))
    .map(({ site, group }) => {
      if (!nearest.has(group)) nearest.set(group, nearestName(group, registered));
      return { code: 'UNKNOWN_GROUP_AT_SITE', details: { site, group, nearest: nearest.get(group) } };
    });
}

/** Warns about the calls that have no span because they came before the set-up. */
export function reportMissedCalls(missed: readonly MissedCalls[], isInitialised: boolean): void {
  if (missed.length === 0) return;
  const calls = missed.reduce((sum, { count }) => sum + count, 0);
  const sites = missed.map(({ site, count }) => `${site} (${count})`);
  emitWarnings([{ code: 'CALLS_BEFORE_SETUP', details: { calls, sites, isInitialised } }]);
}

const NESTJS_CORE = '@opentelemetry/instrumentation-nestjs-core';

/**
 * Warns once if OpenTelemetry's own instrumentation of Nest also makes a span of each handler.
 *
 * @param given the instrumentations of the application
 */
export function reportHandlersTracedTwice(given: readonly InstrumentationLike[]): void {
  const isThere = [...given, ...processState.early.instrumentations].some(
    (each) => each.instrumentationName === NESTJS_CORE && hasPatched(each),
  );
  // If other code has started it, its wrapper is visible. @sentry/nestjs brings a copy of it.
  if (!isThere && NestFactory.create.name !== 'createWithTrace') return;
  emitOnce('', { code: 'HANDLERS_TRACED_TWICE', details: {} });
}

/** It does nothing in an unknown version of Nest, or if it came too late. */
function hasPatched(instrumentation: InstrumentationLike): boolean {
  return patchedModules(instrumentation)?.some(({ isSeen }) => isSeen) ?? true;
}

/** Warns once if the environment enables telemetry but the application has only `forFeature`, which sets nothing up. */
export function reportMissingRoot(): void {
  if (processState.telemetry.phase !== 'off' || !isWanted()) return;
  emitOnce('', { code: 'ROOT_MISSING', details: { has: 'forFeature' } });
}

function isWanted(): boolean {
  try {
    return resolveConfig({}).enabled && !isSdkDisabled();
  } catch {
    return false; // The value isn't allowed, but nothing is going to use it.
  }
}
