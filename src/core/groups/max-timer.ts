/** The longest delay that `setTimeout` takes, in milliseconds. Node fires a timer with a longer one at once. */
export const MAX_TIMER_MS = 2 ** 31 - 1;
