/** A logger may itself cause what is to be logged. Deeper than this it isn't called. */
const MAX_NESTED = 3;
let nested = 0;

/** Calls a method of a logger. Never throws: a logger that throws, rejects or calls back breaks nothing that it reports on. */
export function tellLogger(tell: () => unknown): void {
  if (nested >= MAX_NESTED) return;
  nested++;
  try {
    const returned = tell();
    // An async logger that rejects must not become an unhandled rejection.
    if (typeof returned === 'object') Promise.resolve(returned).catch(() => undefined);
  } catch {
    // What was to be logged is in the record.
  } finally {
    nested--;
  }
}
