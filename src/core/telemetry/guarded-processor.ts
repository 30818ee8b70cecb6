import { setImmediate } from 'node:timers';
import { reportSdkFailure } from '../spans/span-plan.js';
import type { ExportCounts } from '../state/telemetry-state.js';
import { isSampled } from './is-sampled.js';
import { queueOf } from '../private-fields/private-fields.js';
import type { SpanProcessorLike } from './setup-options.js';
import { withoutTracing } from './suppressed-context.js';

/** The part of a span's resource that says whether it is complete; a detector may still be asking the machine. */
interface PendingResource {
  readonly asyncAttributesPending?: boolean;
  waitForAsyncAttributes?(): Promise<void>;
}

type EndingProcessor = SpanProcessorLike & { onEnding?(span: never): void };

/** Calls a synchronous method. If it throws, or returns a promise that rejects, one warning says so. */
function survive(span: { readonly name?: string }, call: () => unknown): void {
  const report = (error: unknown): void => reportSdkFailure(span.name ?? 'without a name', error);
  try {
    const returned = call();
    if (returned !== undefined) Promise.resolve(returned).catch(report);
  } catch (error) {
    report(error);
  }
}

/**
 * A span processor whose failures don't reach others. If the collector is away at the end, the SDK's processor rejects its
 * shutdown. Without this class, the SDK would then not wait for the other processors, metrics and logs. A processor of the
 * application that throws is rare; it would keep spans from the processors after it.
 */
export class GuardedProcessor implements SpanProcessorLike {
  readonly onEnding?: (span: never) => void;
  /** The shutdown, once it has begun; it resolves to the error that it rejected with. */
  ended: Promise<unknown> | undefined;

  constructor(
    private readonly processor: EndingProcessor,
    /** Whether the processor has a visible exporter. */
    readonly hasExporter: boolean,
    private readonly counts: ExportCounts,
    /** Whether the application made it. Such a processor may trace itself, and each of its spans would make another one. */
    private readonly isGiven: boolean,
  ) {
    // The SDK checks for `onEnding` at each span.
    if (typeof processor.onEnding === 'function') {
      this.onEnding = (span) => this.run(span, () => processor.onEnding?.(span));
    }
  }

  /** Of the last span. */
  private resource: PendingResource | undefined;

  get isResourcePending(): boolean {
    return this.resource?.asyncAttributesPending === true;
  }

  /**
   * Waits until the resource is complete. A batch processor takes a batch out of its queue and gives it to the exporter only
   * then; its flush and its shutdown miss such a batch.
   */
  async resourceComplete(): Promise<void> {
    await this.resource?.waitForAsyncAttributes?.();
    // The processor is notified in the same turn.
    await new Promise((resolve) => setImmediate(resolve));
  }

  private run(span: { readonly name?: string }, hook: () => unknown): void {
    survive(span, this.isGiven ? () => withoutTracing(hook) : hook);
  }

  onStart(span: never, parentContext: never): void {
    this.run(span, () => this.processor.onStart(span, parentContext));
  }

  onEnd(span: never): void {
    this.resource = (span as { readonly resource?: PendingResource }).resource;
    const queue = this.ended === undefined ? queueOf(this.processor) : undefined;
    if (queue === undefined) {
      this.run(span, () => this.processor.onEnd(span));
      return;
    }
    const { length } = queue;
    const { spansExported, spansLost } = this.counts;
    this.run(span, () => this.processor.onEnd(span));
    // A full queue silently drops spans. An export replaces the queue or shortens it.
    const isSame = queueOf(this.processor) === queue && queue.length === length;
    const isHanded = this.counts.spansExported !== spansExported || this.counts.spansLost !== spansLost;
    if (isSame && !isHanded && isSampled(span)) this.counts.spansLost++;
  }

  async forceFlush(): Promise<void> {
    await this.processor.forceFlush();
  }

  /** Never rejects. */
  async shutdown(): Promise<void> {
    this.ended ??= (async () => this.processor.shutdown())().then(
      () => undefined,
      (error: unknown) => error ?? new Error('a span processor could not be shut down'),
    );
    await this.ended;
  }
}
