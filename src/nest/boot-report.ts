import { NestFactory } from '@nestjs/core';
import { emitOnce } from '../core/diagnostics/emit-once.js';
import { emitWarnings, type Warning } from '../core/diagnostics/warnings.js';
import type { MissedCalls } from '../core/groups/missed-calls.js';
import { nearestName } from '../core/groups/nearest-name.js';
import { SpanRegistry } from '../core/groups/span-registry.js';
import { processState } from '../core/state/process-state.js';
import type { InstrumentationLike } from '../core/state/state-shape.js';
import { patchedModules } from '../core/telemetry/private-fields.js';
import { isSdkDisabled, resolveConfig } from '../core/telemetry/config-from-env.js';
import type { SpanSites } from './introspection/span-sites.js';

/** Decorated methods whose group nobody has registered: they can never be on. Sorted by site. */
export function unknownGroups(sites: SpanSites): Warning[] {
  const registered = SpanRegistry.groups();
  // Every site has its gate. Measured: looking at the methods of a thousand controllers takes 3 ms of a boot.
  if ([...processState.gates.keys()].every((group) => registered.has(group))) return [];
  const nearest = new Map<string, string | undefined>();
  return [...sites.outside(registered)]
    .sort((a, b) => (a.site < b.site ? -1 : a.site > b.site ? 1 : 0))
    .map(({ site, group }) => {
      if (!nearest.has(group)) nearest.set(group, nearestName(group, registered));
      return { code: 'UNKNOWN_GROUP_AT_SITE', details: { site, group, nearest: nearest.get(group) } };
    });
}

/** Says what has no span because it came before the set-up. */
export function reportMissedCalls(missed: readonly MissedCalls[], isInitialised: boolean): void {
  if (missed.length === 0) return;
  const calls = missed.reduce((sum, { count }) => sum + count, 0);
  const sites = missed.map(({ site, count }) => `${site} (${count})`);
  emitWarnings([{ code: 'CALLS_BEFORE_SETUP', details: { calls, sites, isInitialised } }]);
}

const NESTJS_CORE = '@opentelemetry/instrumentation-nestjs-core';

/**
 * Says, once, that OpenTelemetry's own instrumentation of Nest makes a span of each handler, too.
 *
 * @param given the instrumentations of the application
 */
export function reportHandlersTracedTwice(given: readonly InstrumentationLike[]): void {
  const isThere = [...given, ...processState.early.instrumentations].some(
    (each) => each.instrumentationName === NESTJS_CORE && hasPatched(each),
  );
  // Where somebody else has started it, its wrapper shows. @sentry/nestjs brings a copy of it.
  if (!isThere && NestFactory.create.name !== 'createWithTrace') return;
  emitOnce('', { code: 'HANDLERS_TRACED_TWICE', details: {} });
}

/** It does nothing in a version of Nest that it doesn't know, nor where it came too late. */
function hasPatched(instrumentation: InstrumentationLike): boolean {
  return patchedModules(instrumentation)?.some(({ isSeen }) => isSeen) ?? true;
}

/** Says, once, that the environment wants telemetry, and that only `forFeature` was called, which sets nothing up. */
export function reportMissingRoot(): void {
  if (processState.telemetry.phase !== 'off' || !isWanted()) return;
  emitOnce('', { code: 'ROOT_MISSING', details: { has: 'forFeature' } });
}

function isWanted(): boolean {
  try {
    return resolveConfig({}).enabled && !isSdkDisabled();
  } catch {
    return false; // a value that isn't allowed, which nobody is going to use
  }
}
