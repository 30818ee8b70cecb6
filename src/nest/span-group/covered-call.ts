import { type Context, createContextKey, type Span } from '@opentelemetry/api';

/** A call that has its span already. It stands in the context, so that nobody gives the call a second one. */
export interface CoveredCall {
  readonly span: Span;
  readonly spanName: string;
  /** The gate of the method, or the method itself where it has none. */
  readonly method: object;
  /** Undefined until the method is called: an interceptor has made the span, and Nest will call the method. */
  readonly running?: RunningCall;
}

interface RunningCall {
  readonly receiver: unknown;
  readonly methodKey: string | symbol;
}

const COVERED_CALL = createContextKey('nest-lens covered call');

export function withCoveredCall(context: Context, call: CoveredCall): Context {
  return context.setValue(COVERED_CALL, call);
}

/** Whether the next call of a method is covered by an interceptor's span. */
export function isCallCovered(context: Context, method: object): boolean {
  const call = context.getValue(COVERED_CALL) as CoveredCall | undefined;
  return call !== undefined && call.running === undefined && call.method === method;
}

/**
 * The call whose span covers this call of a method, if any:
 *
 * - before the method runs, the one that an interceptor has announced, however often it is made (by a `retry`, say);
 * - while the method runs, one of the same name on the same object behind another gate: `super.method()`, or the gate behind
 *   somebody else's wrapper. A call through the same gate is recursion, so it is a call of its own.
 */
export function coveredCall(
  context: Context,
  method: object,
  receiver: unknown,
  methodKey: string | symbol,
): CoveredCall | undefined {
  const call = context.getValue(COVERED_CALL) as CoveredCall | undefined;
  if (call === undefined) return undefined;
  const { running } = call;
  if (running === undefined) return call.method === method ? call : undefined;
  const isSame = call.method !== method && running.receiver === receiver && running.methodKey === methodKey;
  return isSame ? call : undefined;
}
