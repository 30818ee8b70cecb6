import { propagation, type TextMapPropagator } from '@opentelemetry/api';
import { emitWarnings } from '../diagnostics/warnings.js';
import { extractOptIn } from '../opt-in/extract-opt-in.js';
import type { ReadRequestOptIn } from '../opt-in/request-opt-in-options.js';
import { processState } from '../state/process-state.js';
import { registeredApis } from './otel-globals.js';

/** Lets requests turn groups on for themselves from now on, until `processState.requestOptIn.stop()`. */
export function startRequestOptIn(
  { keys, allow, propagate, warnings }: ReadRequestOptIn,
  mode: 'own' | 'attach',
): void {
  emitWarnings(warnings);
  if (keys.length === 0) return;
  const takeBack = readAtExtraction(mode);
  const ends = new Set<() => void>();
  const stop = (): void => {
    processState.requestOptIn = undefined;
    takeBack();
    for (const end of ends) end();
  };
  processState.requestOptIn = {
    keys,
    allow,
    propagate,
    counts: new Map(),
    saidAt: new Map(),
    ends,
    stop,
  };
}

/**
 * Makes the registered propagator read the header, too. Instrumentations of servers and consumers extract a context before
 * they start their span, so the group of that span can be turned on here. The API takes one propagator at a time, so the
 * registered one is registered again, with ours around it.
 */
function readAtExtraction(mode: 'own' | 'attach'): () => void {
  const former = registeredApis().propagator as TextMapPropagator | undefined;
  // If an application has registered a provider but no propagator, it may be about to register one, which would be refused
  // after ours.
  if (former === undefined && mode === 'attach') return () => undefined;
  const reading: TextMapPropagator = {
    inject: (context, carrier, setter) => former?.inject(context, carrier, setter),
    extract: (context, carrier, getter) =>
      extractOptIn(former?.extract(context, carrier, getter) ?? context, carrier, getter),
    fields: () => former?.fields() ?? [],
  };
  register(reading);
  return () => {
    if (registeredApis().propagator === reading) register(former);
  };
}

function register(propagator: TextMapPropagator | undefined): void {
  propagation.disable();
  if (propagator !== undefined) propagation.setGlobalPropagator(propagator);
}
