/**
 * Runs a function once, when the process has nothing left to do and is about to end. Timers of span processors don't keep it
 * alive.
 *
 * @returns a function that cancels it
 */
export function onBeforeExit(run: () => void): () => void {
  process.once('beforeExit', run);
  return () => void process.off('beforeExit', run);
}
