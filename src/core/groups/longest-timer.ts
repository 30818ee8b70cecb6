/** The longest wait that a timer takes, in milliseconds; Node fires a longer one at once. */
export const LONGEST_TIMER_MS = 2 ** 31 - 1;
