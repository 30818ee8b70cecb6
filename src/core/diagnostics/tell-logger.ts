/** A logger may itself cause a warning. It is called at most this many levels deep. */
const MAX_NESTED = 3;
let nested = 0;

/** Calls a method of a logger. Never throws: a logger that throws, rejects or calls back disturbs nothing. */
export function tellLogger(tell: () => unknown): void {
  if (nested >= MAX_NESTED) return;
  nested++;
  try {
    const returned = tell();
    // An async logger that rejects must not become an unhandled rejection.
    if (typeof returned === 'object') Promise.resolve(returned).catch(() => undefined);
  } catch {
    // The record keeps the message.
  } finally {
    nested--;
  }
}
