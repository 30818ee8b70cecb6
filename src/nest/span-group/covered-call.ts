import { type Context, createContextKey, INVALID_SPAN_CONTEXT, type Span, trace } from '@opentelemetry/api';

/** A call that has its span already. The context carries it, so that the call gets no second span. */
interface CoveredCall {
  readonly span: Span;
  readonly spanName: string;
  /** The gate of the method, or the method itself if it has no gate. */
  readonly method: object;
}

interface RunningCall extends CoveredCall {
  readonly receiver: unknown;
  readonly methodKey: string | symbol;
}

/** The span that covers a call of a method, and the context to run the call in; undefined to run it in the present one. */
export interface FoundCover extends CoveredCall {
  readonly runIn: Context | undefined;
}

const COVERED_CALL = createContextKey('nest-lens covered call');

/** The announced calls of a method whose spans have not ended, in all requests. */
interface OpenCalls {
  readonly calls: Set<AnnouncedCall>;
  /** How many of them haven't come yet. */
  awaited: number;
}

/** The key is the object by which gate and interceptor know a method. */
const openCalls = new WeakMap<object, OpenCalls>();

/** A request that never ends keeps its call. Beyond this many calls of a method, the oldest are forgotten. */
const MAX_OPEN = 1_000;

function openCallsOf(method: object): OpenCalls {
  let open = openCalls.get(method);
  if (open === undefined) openCalls.set(method, (open = { calls: new Set(), awaited: 0 }));
  return open;
}

/** Stands for the span of an unknown request. */
const UNKNOWN_SPAN = trace.wrapSpanContext(INVALID_SPAN_CONTEXT);

/** A call whose span an interceptor has made, and that Nest will make. */
export class AnnouncedCall implements CoveredCall {
  isAwaited = true;
  private isOver = false;
  private args: readonly unknown[] | undefined;
  private readonly open: OpenCalls;

  /** @param outside the context without the span */
  constructor(
    readonly span: Span,
    readonly spanName: string,
    readonly method: object,
    private readonly outside: Context,
  ) {
    this.open = openCallsOf(method);
    this.open.awaited++;
    const { calls } = this.open;
    if (calls.size >= MAX_OPEN) for (const oldest of calls) if (calls.delete(oldest)) break;
    calls.add(this);
  }

  /** The span has ended, so it covers no call any more. */
  end(): void {
    this.isOver = true;
    this.args = undefined;
    this.open.calls.delete(this);
    this.stopAwaiting();
  }

  get isOpen(): boolean {
    return !this.isOver;
  }

  /** Whether a call in this call's context has a span already, this one or another. */
  get isCovered(): boolean {
    return !this.isOver || this.areCallsAwaited;
  }

  /**
   * The first call takes the span. Further calls count as tries of the same request, unless their arguments differ while
   * another request waits for its call. Then an inner interceptor has run the other request's handler here. That call has a
   * span already, of an unknown request, so it gets no second span, and this span gets no data of it.
   */
  coverFor(context: Context, args: readonly unknown[]): FoundCover | undefined {
    const { span, spanName, method } = this;
    if (this.isOver && !this.areCallsAwaited) return undefined;
    const isOwn = !this.isOver && (this.args === undefined || !this.areCallsAwaited || this.isSame(args));
    if (!isOwn) return { span: UNKNOWN_SPAN, spanName, method, runIn: this.without(context) };
    this.args = args;
    this.stopAwaiting();
    return { span, spanName, method, runIn: context };
  }

  /** Whether calls of the method were announced that have not come yet. */
  private get areCallsAwaited(): boolean {
    return this.open.awaited > 0;
  }

  /** Whether the call came with these arguments. */
  isSame(args: readonly unknown[]): boolean {
    return args.length === this.args?.length && args.every((arg, index) => Object.is(arg, this.args![index]));
  }

  private stopAwaiting(): void {
    if (!this.isAwaited) return;
    this.isAwaited = false;
    this.open.awaited--;
  }

  /** The context outside of this span's, because the work of another request isn't below this span. */
  private without(context: Context): Context {
    if (trace.getSpan(context) !== this.span) return context;
    const former = trace.getSpan(this.outside);
    return former === undefined ? trace.deleteSpan(context) : trace.setSpan(context, former);
  }
}

/**
 * The cover of a call without an announced call in its context and without an active span: an inner interceptor has lost the
 * context. If exactly one call is awaited, this is it; among several it can't be told.
 */
function coverAwaited(
  context: Context,
  method: object,
  args: readonly unknown[],
  isIt = (call: AnnouncedCall) => call.isAwaited,
): FoundCover | undefined {
  const candidates = [...(openCalls.get(method)?.calls ?? [])].filter(isIt);
  const [call] = candidates;
  if (call === undefined) return undefined;
  const { span, spanName } = call;
  if (candidates.length > 1) return { span: UNKNOWN_SPAN, spanName, method, runIn: context };
  return call.coverFor(withCoveredCall(trace.setSpan(context, span), call), args);
}

/** The context for a call that was announced, or that runs under a span. */
export function withCoveredCall(context: Context, call: AnnouncedCall | RunningCall): Context {
  return context.setValue(COVERED_CALL, call);
}

/** It doesn't use `instanceof`, because another copy of the package may have announced the call. */
function isAnnounced(call: AnnouncedCall | RunningCall): call is AnnouncedCall {
  return 'coverFor' in call;
}

/** Whether the next call of a method has an interceptor's span. */
export function isCallCovered(context: Context, method: object): boolean {
  const call = context.getValue(COVERED_CALL) as AnnouncedCall | RunningCall | undefined;
  return call !== undefined && isAnnounced(call) && call.method === method && call.isCovered;
}

/**
 * The span that covers this call of a method, if any:
 *
 * - before the method runs, the span that an interceptor has made for it. That also holds if it is called several times (by a
 *   `retry`), or if an inner interceptor has lost the context (in a pool of workers, or by `ROOT_CONTEXT`);
 * - while the method runs, its span covers a call of the same name on the same object behind another gate: `super.method()`,
 *   or the gate behind somebody else's wrapper. A call through the same gate is recursion, so it is a call of its own.
 */
export function findCover(
  context: Context,
  method: object,
  receiver: unknown,
  methodKey: string | symbol,
  args: readonly unknown[],
): FoundCover | undefined {
  const call = context.getValue(COVERED_CALL) as AnnouncedCall | RunningCall | undefined;
  if (call !== undefined) {
    if (isAnnounced(call)) {
      if (call.method === method) return call.coverFor(context, args);
    } else if (call.method !== method && call.receiver === receiver && call.methodKey === methodKey) {
      return { ...call, runIn: undefined };
    }
  }
  const open = openCalls.get(method);
  const active = trace.getSpan(context);
  // A call from traced work has a span of its own.
  if (open === undefined || open.calls.size === 0 || active?.isRecording()) return undefined;
  if (open.awaited > 0) return coverAwaited(context, method, args);
  // A further try has the same arguments.
  return active === undefined
    ? coverAwaited(context, method, args, (announced) => announced.isSame(args))
    : undefined;
}
