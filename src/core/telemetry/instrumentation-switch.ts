import { types } from 'node:util';
import {
  createNoopMeter,
  diag,
  type MeterProvider,
  ProxyTracerProvider,
  trace,
  type TracerProvider,
} from '@opentelemetry/api';
import { processState } from '../state/process-state.js';
import type { InstrumentationLike, SetupOptions } from './setup-options.js';

/** What instrumentations have besides, as far as they are made with OpenTelemetry's base class. */
interface SwitchedInstrumentation extends InstrumentationLike {
  isEnabled?(): boolean;
  getConfig?(): { enabled?: boolean } | undefined;
  setTracerProvider?(provider: TracerProvider): void;
  setMeterProvider?(provider: MeterProvider): void;
  /** No part of their public interface. */
  _modules?: readonly { readonly moduleExports?: unknown }[];
}

/** Stands for nobody. */
const NO_TRACERS = new ProxyTracerProvider();
const NO_METERS: MeterProvider = { getMeter: () => createNoopMeter() };

function attempt(instrumentation: InstrumentationLike, what: string, step: () => void): void {
  try {
    step();
  } catch (error) {
    diag.error(`${instrumentation.instrumentationName} could not be ${what}`, error);
  }
}

/** Has an instrumentation make nothing. It keeps its tracer otherwise, and spans that nobody exports would become parents. */
function silence(instrumentation: SwitchedInstrumentation): void {
  attempt(instrumentation, 'silenced', () => {
    instrumentation.setTracerProvider?.(NO_TRACERS);
    instrumentation.setMeterProvider?.(NO_METERS);
  });
}

/**
 * Whether an instrumentation has patched an ES module. The base class can't take that back: switched off and on again, it
 * would patch it twice.
 */
function hasPatchedEsModule({ _modules: modules }: SwitchedInstrumentation): boolean {
  return Array.isArray(modules) && modules.some(({ moduleExports }) => types.isProxy(moduleExports));
}

function disable(instrumentation: SwitchedInstrumentation): void {
  silence(instrumentation);
  attempt(instrumentation, 'disabled', () => {
    if (hasPatchedEsModule(instrumentation)) return;
    instrumentation.disable();
    processState.disabledInstrumentations.add(instrumentation);
  });
}

/**
 * Ends what the instrumentations of a set-up do: one that is left on would go on beside those of the next one. Those that
 * were started before the application stay, and make nothing; what it has built in the meantime they couldn't patch again.
 */
export function disableInstrumentations({ instrumentations = [] }: SetupOptions): void {
  for (const instrumentation of instrumentations.flat()) {
    if (processState.earlyInstrumentations?.includes(instrumentation)) silence(instrumentation);
    else disable(instrumentation);
  }
}

/** For an application that doesn't want what the environment asked for. */
export function disableEarlyInstrumentations(): void {
  for (const instrumentation of processState.earlyInstrumentations ?? []) disable(instrumentation);
}

/** What a set-up uses: what it is given, and what was started before the application, unless it brings the same. */
export function withEarlyInstrumentations(options: SetupOptions): SetupOptions {
  const { earlyInstrumentations: early = [] } = processState;
  if (early.length === 0) return options;
  const given = options.instrumentations?.flat() ?? [];
  const names = new Set(given.map(({ instrumentationName }) => instrumentationName));
  const others = early.filter(({ instrumentationName }) => !names.has(instrumentationName));
  return { ...options, instrumentations: [...others, ...given] };
}

/**
 * Enables those that an earlier shutdown has disabled. The SDK takes it for granted that an instrumentation is on, unless its
 * configuration says that it is off: then it switches it on itself.
 */
export function enableAgain({ instrumentations = [] }: SetupOptions): void {
  for (const instrumentation of instrumentations.flat() as SwitchedInstrumentation[]) {
    if (!processState.disabledInstrumentations.delete(instrumentation)) continue;
    attempt(instrumentation, 'enabled again', () => {
      // Some take their tracer once, when they patch.
      instrumentation.setTracerProvider?.(trace.getTracerProvider());
      const isOn = instrumentation.isEnabled?.() === true || instrumentation.getConfig?.()?.enabled === false;
      if (!isOn) instrumentation.enable();
    });
  }
}
