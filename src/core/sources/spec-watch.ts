import { quote } from '../diagnostics/quote-details.js';
import { emitWarnings } from '../diagnostics/warnings.js';
import { applySourcedSpec } from '../groups/sourced-spec.js';
import { specProblem } from '../groups/span-group-spec.js';
import type { SpanGroupSpecSource } from './span-group-spec-source.js';

/** A source whose `watch` failed is asked again after this time, in milliseconds. The time doubles up to the second number. */
const FIRST_RETRY_MS = 500;
const LAST_RETRY_MS = 30_000;
/** A source that has given nothing for this long, in milliseconds, is reported. */
const SILENT_MS = 5_000;
/**
 * At most this many failures of one source are logged in this many milliseconds, because a source that fails again and again
 * must not fill the log.
 */
const MAX_SAID = 10;
const SAID_WITHIN_MS = 10 * 60_000;

/** A reason may be shown at the endpoint; an error goes to the log only. */
type Failure = { readonly reason: string } | { readonly error: unknown };

/** One call of a source's `watch`. A later call makes its results void. */
interface Attempt {
  stop: (() => unknown) | undefined;
}

/**
 * Watches a source for one set-up. If the source throws, rejects, stays silent, gives no spec or speaks after its end, its
 * last spec stays in force, one warning says so, and its next spec counts.
 */
export class SpecWatch {
  /** Its name in documents and logs, on one line. */
  private readonly name: string;
  private attempt: Attempt | undefined;
  private retryMs = FIRST_RETRY_MS;
  private retryTimer: ReturnType<typeof setTimeout> | undefined;
  private readonly silenceTimer: ReturnType<typeof setTimeout>;
  /** Until `open`, specs are kept and nothing is changed. */
  private isOpen = false;
  private given: { readonly spec: string | undefined } | undefined;
  private failure: Failure | undefined;
  private isRecoveryDue = false;
  private saidAt: number[] = [];
  private heard!: () => void;
  /** Resolves when the source has given a spec, has failed, or is ended. */
  readonly firstWord = new Promise<void>((resolve) => (this.heard = resolve));

  constructor(
    private readonly source: SpanGroupSpecSource,
    name = source.name,
  ) {
    this.name = quote(name);
    this.silenceTimer = setTimeout(() => {
      this.fail({ reason: `it has not answered for ${SILENT_MS / 1_000} seconds` });
    }, SILENT_MS).unref();
    this.begin();
  }

  /** Puts the last spec in force, and from now on each new one. */
  open(): void {
    this.isOpen = true;
    if (this.given !== undefined) applySourcedSpec(this.name, this.given.spec);
    if (this.failure !== undefined) this.say(this.failure);
  }

  /** Ends the watch. The source's later calls have no effect. */
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

  /** Keeps the function that `watch` has returned. It may come after the end, or be of any type in JavaScript. */
  private keep(attempt: Attempt, stop: unknown): void {
    if (typeof stop === 'function') attempt.stop = stop as () => unknown;
    else this.cannotEnd({ reason: 'its watch() has returned no function that ends it' });
    if (this.attempt !== attempt) this.end(attempt);
  }

  private retry(attempt: Attempt, error: unknown): void {
    if (this.attempt !== attempt) return;
    // The attempt has failed, so its later calls have no effect.
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
      // A promise, by mistake. Without this its rejection would go unhandled.
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
