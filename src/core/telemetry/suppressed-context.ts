import { context } from '@opentelemetry/api';
import { SUPPRESS_TRACING } from '../spans/context-keys-of-others.js';

/** Runs something that makes no span: an exporter or processor that traced itself would have its own spans to handle, without end. */
export function withoutTracing<T>(run: () => T): T {
  return context.with(context.active().setValue(SUPPRESS_TRACING, true), run);
}
