import { NestFactory } from '@nestjs/core';
import { emitWarnings, type Warning } from '../core/diagnostics/warnings.js';
import type { MissedCalls } from '../core/groups/missed-calls.js';
import { nearestName } from '../core/groups/nearest-name.js';
import { SpanRegistry } from '../core/groups/span-registry.js';
import { processState } from '../core/state/process-state.js';
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
 * Whether OpenTelemetry's own instrumentation of Nest makes a span of each handler, too.
 *
 * @param given the instrumentations of the set-up
 */
export function areHandlersTracedTwice(
  given: readonly { readonly instrumentationName?: unknown }[],
): boolean {
  const isGiven = [...given, ...processState.early.instrumentations].some(
    ({ instrumentationName }) => instrumentationName === NESTJS_CORE,
  );
  // Where somebody else has started it, its wrapper shows. @sentry/nestjs brings a copy of it.
  return isGiven || NestFactory.create.name === 'createWithTrace';
}

/** Says, once, that the environment wants telemetry, and that only `forFeature` was called, which sets nothing up. */
export function reportMissingRoot(): void {
  const isSaid = processState.recordedWarnings.some(({ code }) => code === 'ROOT_MISSING');
  if (isSaid || processState.telemetry.phase !== 'off' || !isWanted()) return;
  emitWarnings([{ code: 'ROOT_MISSING', details: {} }]);
}

function isWanted(): boolean {
  try {
    return resolveConfig({}).enabled && !isSdkDisabled();
  } catch {
    return false; // a value that isn't allowed, which nobody is going to use
  }
}
