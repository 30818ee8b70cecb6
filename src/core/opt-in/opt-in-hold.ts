import { holdGatesOpen } from '../groups/held-gates.js';
import { MAX_TIMER_MS } from '../groups/max-timer.js';
import type { RequestOptIn } from '../state/request-opt-in-state.js';

/** Keeps the gates of one request's groups open. */
export interface OptInHold {
  readonly isOver: boolean;
  /** Sets the end to this many milliseconds from now, in place of an earlier end. */
  endIn(ms: number): void;
  end(): void;
}

/** Opens the gates. They close when the hold ends, when its time is up, or with telemetry, whichever comes first. */
export function beginHold({ ends }: RequestOptIn, groups: ReadonlySet<string>, ms: number): OptInHold {
  const letGo = holdGatesOpen(groups);
  let timer: ReturnType<typeof setTimeout> | undefined;
  let isOver = false;
  const end = (): void => {
    if (isOver) return;
    isOver = true;
    clearTimeout(timer);
    ends.delete(end);
    letGo();
  };
  const endIn = (remaining: number): void => {
    if (isOver) return;
    clearTimeout(timer);
    timer = setTimeout(end, Math.min(Math.max(remaining, 1), MAX_TIMER_MS));
    timer.unref();
  };
  ends.add(end);
  endIn(ms);
  return {
    get isOver() {
      return isOver;
    },
    endIn,
    end,
  };
}
