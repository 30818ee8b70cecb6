import { quote } from '../diagnostics/quote-details.js';
import { emitWarnings } from '../diagnostics/warnings.js';
import { applySourcedSpec } from '../groups/sourced-spec.js';
import { specProblem } from '../groups/span-group-spec.js';
import type { SpanGroupSpecSource } from './span-group-spec-source.js';

/** After how many milliseconds a source is asked again whose `watch` has failed: twice as long each time, up to the second one. */
const FIRST_RETRY_MS = 500;
const LAST_RETRY_MS = 30_000;
/** A source that has said nothing at all for so long, in milliseconds, is reported. */
const SILENT_MS = 5_000;
/** How many failures of one source are said in how many milliseconds: one that comes and goes must not fill the log. */
const MAX_SAID = 10;
const SAID_WITHIN_MS = 10 * 60_000;

/** A reason is fit for the endpoint; an error is for the log. */
type Failure = { readonly reason: string } | { readonly error: unknown };

/** One call of a source's `watch`. What an earlier one says doesn't count any more. */
interface Attempt {
  stop: (() => unknown) | undefined;
}

/**
 * Watches a source for one set-up. Whatever the source does (throw, reject, stay silent, say nonsense, speak after its end), the
 * spec that it gave last stays in force, one warning says so, and what it gives next counts.
 */
export class SpecWatch {
  /** What it is called in documents and logs, on one line. */
  private readonly name: string;
  private attempt: Attempt | undefined;
  private retryMs = FIRST_RETRY_MS;
  private retryTimer: ReturnType<typeof setTimeout> | undefined;
  private readonly silenceTimer: ReturnType<typeof setTimeout>;
  /** Until then what it says is kept, and nothing is changed. */
  private isOpen = false;
  private given: { readonly spec: string | undefined } | undefined;
  private failure: Failure | undefined;
  private isRecoveryDue = false;
  private saidAt: number[] = [];
  private heard!: () => void;
  private readonly firstWord = new Promise<void>((resolve) => (this.heard = resolve));

  constructor(
    private readonly source: SpanGroupSpecSource,
    name = source.name,
  ) {
    this.name = quote(name);
    this.silenceTimer = setTimeout(() => {
      this.fail({ reason: `it has said nothing for ${SILENT_MS / 1_000} seconds` });
    }, SILENT_MS).unref();
    this.begin();
  }

  /** Waits until the source has given something, or has failed, but no longer than so many milliseconds. */
  async outwait(limitMs: number): Promise<void> {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const isOver = new Promise<void>((resolve) => (timer = setTimeout(resolve, limitMs)));
    await Promise.race([this.firstWord, isOver]);
    clearTimeout(timer);
  }

  /** Puts in force what the source has said so far, and from now on what it says. */
  open(): void {
    this.isOpen = true;
    if (this.given !== undefined) applySourcedSpec(this.name, this.given.spec);
    if (this.failure !== undefined) this.say(this.failure);
  }

  /** Ends it. From then on nothing that the source says counts. */
  stop(): void {
    const { attempt } = this;
    this.attempt = undefined;
    clearTimeout(this.retryTimer);
    clearTimeout(this.silenceTimer);
    this.heard();
    if (attempt !== undefined) this.end(attempt);
  }

  private begin(): void {
    const attempt: Attempt = { stop: undefined };
    this.attempt = attempt;
    const isCurrent = (): boolean => this.attempt === attempt;
    try {
      const returned = this.source.watch(
        (spec) => void (isCurrent() && this.take(spec)),
        (problem) => {
          if (isCurrent()) this.fail(typeof problem === 'string' ? { reason: problem } : { error: problem });
        },
      );
      if (typeof returned === 'function') this.keep(attempt, returned);
      else
        Promise.resolve(returned).then(
          (stop) => this.keep(attempt, stop),
          (error: unknown) => this.retry(attempt, error),
        );
    } catch (error) {
      this.retry(attempt, error);
    }
  }

  /** What a `watch` has returned. It may come after the end, or be anything where there is no compiler. */
  private keep(attempt: Attempt, stop: unknown): void {
    if (typeof stop === 'function') attempt.stop = stop as () => unknown;
    else this.cannotEnd({ reason: 'its watch() has returned no function for that' });
    if (this.attempt !== attempt) this.end(attempt);
  }

  private retry(attempt: Attempt, error: unknown): void {
    if (this.attempt !== attempt) return;
    // What it says from now on, although it has failed, is not awaited by anybody.
    this.attempt = undefined;
    this.fail({ error });
    this.retryTimer = setTimeout(() => this.begin(), this.retryMs).unref();
    this.retryMs = Math.min(this.retryMs * 2, LAST_RETRY_MS);
  }

  private end({ stop }: Attempt): void {
    try {
      const returned = stop?.();
      if (typeof returned === 'object')
        Promise.resolve(returned).catch((error: unknown) => this.cannotEnd({ error }));
    } catch (error) {
      this.cannotEnd({ error });
    }
  }

  private take(spec: unknown): void {
    const problem = spec === undefined ? undefined : specProblem(spec);
    if (problem !== undefined) {
      // A promise, by mistake. Nobody else hears of it when it rejects.
      if (typeof spec === 'object') Promise.resolve(spec).catch(() => undefined);
      return this.fail({ reason: `its spec ${problem}` });
    }
    this.retryMs = FIRST_RETRY_MS;
    this.given = { spec: spec as string | undefined };
    this.failure = undefined;
    this.hear();
    if (!this.isOpen) return;
    applySourcedSpec(this.name, this.given.spec);
    if (!this.isRecoveryDue) return;
    this.isRecoveryDue = false;
    emitWarnings([{ code: 'SPEC_SOURCE_RECOVERED', details: { source: this.name } }]);
  }

  private fail(failure: Failure): void {
    const isNews = this.failure === undefined;
    this.failure ??= failure;
    this.hear();
    if (isNews && this.isOpen) this.say(failure);
  }

  private hear(): void {
    clearTimeout(this.silenceTimer);
    this.heard();
  }

  private say(failure: Failure): void {
    const now = performance.now();
    this.saidAt = this.saidAt.filter((at) => now - at < SAID_WITHIN_MS);
    if (this.saidAt.length >= MAX_SAID) return;
    this.saidAt.push(now);
    this.isRecoveryDue = true;
    const details = { source: this.name, hasGiven: this.given !== undefined, ...failure };
    emitWarnings([{ code: 'SPEC_SOURCE_FAILED', details }]);
  }

  private cannotEnd(failure: Failure): void {
    emitWarnings([{ code: 'SPEC_SOURCE_NOT_ENDED', details: { source: this.name, ...failure } }]);
  }
}
