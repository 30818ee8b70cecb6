import { context } from '@opentelemetry/api';
import { SUPPRESS_TRACING } from '../spans/context-keys-of-others.js';

/** Runs a function without tracing: an exporter or processor that traced itself would handle its own spans without end. */
export function withoutTracing<T>(run: () => T): T {
  return context.with(context.active().setValue(SUPPRESS_TRACING, true), run);
}
