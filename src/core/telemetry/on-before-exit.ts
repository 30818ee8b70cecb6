/**
 * Runs something once, when the process has nothing left to do and is about to end by itself: the timers of span processors
 * don't keep it going.
 *
 * @returns takes it back
 */
export function onBeforeExit(run: () => void): () => void {
  process.once('beforeExit', run);
  return () => void process.off('beforeExit', run);
}
