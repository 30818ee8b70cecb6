import { trace } from '@opentelemetry/api';
import type { ReadableSpan, Span, SpanProcessor } from '@opentelemetry/sdk-trace-base';

/** What happens in the life of a result, in the words of docs/span-life.md. */
export type Moment =
  | 'guards run'
  | 'pipes run'
  | 'called'
  | 'returns'
  | 'throws'
  | 'settles'
  | 'completes'
  | 'fails'
  | 'unsubscribed'
  | 'next macrotask'
  | 'exhausted'
  | 'returned early';

/**
 * Tells when a handler's span started and ended, by what the handler itself had noted just before. Markers, spans that the
 * handler makes at each of these places, tell which span was active there.
 */
export class Timeline implements SpanProcessor {
  readonly moments: (Moment | 'span starts' | 'span ends')[] = [];
  private readonly waiting = new Set<() => void>();

  note(moment: Moment): void {
    this.moments.push(moment);
    this.wake();
  }

  /** Leaves a span named `marker` at the place where it is called. */
  mark(): void {
    trace.getTracer('app').startSpan(MARKER).end();
  }

  /** Resolves when the moment has come; it may have come already. */
  async has(moment: Moment | 'span starts' | 'span ends'): Promise<void> {
    if (this.moments.includes(moment)) return;
    await new Promise<void>((resolve, reject) => {
      const giveUp = setTimeout(
        () => reject(new Error(`"${moment}" hasn't come; there were: ${this.moments.join(', ')}`)),
        2_000,
      );
      const check = (): void => {
        if (!this.moments.includes(moment)) return;
        clearTimeout(giveUp);
        this.waiting.delete(check);
        resolve();
      };
      this.waiting.add(check);
    });
  }

  /** The moments on both sides of the start of the span: after the first, before the second. */
  get spanStarts(): readonly [after: string | undefined, before: string | undefined] {
    const at = this.moments.indexOf('span starts');
    return [this.moments[at - 1], this.moments[at + 1]];
  }

  /** The moment that came last before the span ended. */
  get spanEnds(): string | undefined {
    return this.moments[this.moments.indexOf('span ends') - 1];
  }

  onStart(span: Span): void {
    if (span.name !== MARKER) this.moments.push('span starts');
    this.wake();
  }

  onEnd(span: ReadableSpan): void {
    if (span.name !== MARKER) this.moments.push('span ends');
    this.wake();
  }

  forceFlush(): Promise<void> {
    return Promise.resolve();
  }

  shutdown(): Promise<void> {
    return Promise.resolve();
  }

  private wake(): void {
    this.waiting.forEach((check) => check());
  }
}

export const MARKER = 'marker';
