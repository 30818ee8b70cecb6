import { type Context, type Span, SpanStatusCode, trace } from '@opentelemetry/api';
import { processState } from '../state/process-state.js';
import type { InFlightLink } from '../state/state-shape.js';
import { nextSequence, takeInFlight, trackInFlight, untrackInFlight } from './in-flight-ring.js';
import { countSpan } from './span-counts.js';
import { recordThrown } from './span-exception.js';
import { GROUP_ATTRIBUTE } from './site-attributes.js';
import { reportSdkFailure, type SpanPlan, startSpan } from './span-plan.js';
import { isFault } from './thrown-verdict.js';

const CANCELLED_ATTRIBUTE = 'nestlens.cancelled';
/** The attribute, and the event, of a span that a shutdown has ended. */
const TRUNCATED = 'nestlens.truncated';

/** A span under way. Of `end`, `fail` and `cancel` the first call has an effect; this is the only place that ends spans. */
export class InFlightSpan implements InFlightLink {
  readonly span: Span;
  /** The context of the work: this span is the active one. */
  readonly inside: Context;
  readonly sequence = nextSequence();
  older: InFlightLink = this;
  newer: InFlightLink = this;
  private open = true;

  constructor(
    private readonly plan: SpanPlan,
    outside: Context,
  ) {
    this.span = startSpan(plan, outside);
    this.inside = trace.setSpan(outside, this.span);
    if (processState.spanCounts !== undefined) {
      countSpan(processState.spanCounts, plan.attributes[GROUP_ATTRIBUTE]);
    }
  }

  /**
   * Says that the work goes on after the call that began it: then a shutdown may come first, and has to end the span.
   *
   * Measured: keeping track of a span costs 30 ns, so spans that end within their call are left out.
   */
  track(): this {
    if (this.open && this.older === this) trackInFlight(this);
    return this;
  }

  end(): void {
    this.close();
  }

  fail(thrown: unknown): void {
    this.close((span) => {
      const message = recordThrown(span, thrown);
      if (isFault(this.plan, thrown)) span.setStatus({ code: SpanStatusCode.ERROR, message });
    });
  }

  /** For work that was given up: unsubscribed, returned early, nobody there any more. Not an error. */
  cancel(): void {
    this.close((span) => span.setAttribute(CANCELLED_ATTRIBUTE, true));
  }

  private close(finish?: (span: Span) => void): void {
    if (!this.open) return;
    this.open = false;
    untrackInFlight(this);
    const { span, plan } = this;
    try {
      // The application may have ended the span itself; touching it again would only make the SDK complain.
      if (!span.isRecording()) return;
      try {
        finish?.(span);
      } catch (error) {
        reportSdkFailure(plan.name, error);
      }
      span.end();
    } catch (error) {
      reportSdkFailure(plan.name, error);
    }
  }
}

/** What the application may still do to a span that a shutdown has ended. It is no mistake of its own. */
const DEAF: PropertyDescriptorMap = { end: { value: () => undefined } };
for (const method of [
  'setAttribute',
  'setAttributes',
  'addEvent',
  'addLink',
  'addLinks',
  'setStatus',
  'updateName',
  'recordException',
]) {
  DEAF[method] = {
    value(this: Span) {
      return this;
    },
  };
}

/**
 * Ends every span that is still under way, newest first, so that children end before their parents. They say so in an
 * attribute and an event, and are no errors. The work behind them goes on, and may go on writing to its span.
 */
export function truncateInFlight(): void {
  for (const span of takeInFlight()) {
    try {
      if (!span.isRecording()) continue;
      span.setAttribute(TRUNCATED, true);
      span.addEvent(TRUNCATED, { reason: 'telemetry was shut down before the work was done' });
      span.end();
      Object.defineProperties(span, DEAF);
    } catch (error) {
      reportSdkFailure((span as { name?: string }).name ?? 'still open', error);
    }
  }
}

/** Takes a step of a shutdown, with the spans that are under way ended before it. */
export function truncateThen(step: () => Promise<void>): Promise<void> {
  truncateInFlight();
  return step();
}
