import type { ContextManager } from '@opentelemetry/api';
import { emitWarnings } from '../diagnostics/warnings.js';
import { invalidOption } from '../instrumentations/checked-options.js';
import { gateInstrumentations } from '../instrumentations/gate-instrumentations.js';
import { loadedInstrumentations } from '../instrumentations/loaded-instrumentations.js';
import { readScope } from '../instrumentations/read-scope.js';
import type { InstrumentationLike } from '../state/early-start-state.js';
import type { TakeBack } from '../instrumentations/take-back.js';
import type { InstrumentationScope } from '../state/state-shape.js';
import type { NestLensConfig } from './config.js';
import { registeredApis, registeredTracerProvider } from './otel-globals.js';
import { scopesOf } from '../private-fields/private-fields.js';
import type { SetupOptions } from './setup-options.js';

/**
 * Gates the spans of instrumentations, if the options ask for it and there is a tracer provider.
 *
 * @returns a function that stops the gating; undefined if nothing is gated
 */
export function startInstrumentationGating(
  { instrumentationGroups: configured = false, spanGroups }: NestLensConfig,
  { instrumentationGroups: asked = configured, instrumentations = [] }: SetupOptions,
): TakeBack | undefined {
  const provider = registeredTracerProvider();
  if (!asked || provider === undefined) return undefined;
  if (asked !== true && typeof asked !== 'object') {
    emitWarnings([invalidOption('', asked)]);
    return undefined;
  }
  return gateInstrumentations(asked === true ? {} : asked, {
    provider,
    contextManager: registeredApis().contextManager as ContextManager | undefined,
    scopes: [...instrumentations.flat().map(scopeOf), ...loadedInstrumentations(), ...scopesOf(provider)],
    spec: spanGroups,
  });
}

/** The scope of an instrumentation's tracer: its package, as a rule. */
function scopeOf(instrumentation: InstrumentationLike): InstrumentationScope {
  const { instrumentationName: name, instrumentationVersion: version } =
    instrumentation as InstrumentationLike & {
      instrumentationVersion?: string;
    };
  return readScope({ name, version });
}
