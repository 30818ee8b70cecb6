// Not the global function: fake timers of a test would drop the reset, and the limit would count for good.
import { setImmediate } from 'node:timers';

interface Writing {
  write(text: string, done: (error?: Error | null) => void): boolean;
}

/**
 * The most writes in one turn of the event loop that go through a function that somebody has put in place of
 * `process.stdout.write`. Further ones bypass it. It may be a queue that a traced function empties: each write would make a
 * span, whose export would be another write, without end.
 */
const MAX_REPLACED_WRITES = 1_000;

let replacedWrites = 0;

/** Writes to standard output for an exporter. It doesn't use `console.log`, because that is more often a queue. */
export function writeOut(text: string): void {
  const { stdout } = process;
  const replaced = replacedWriting();
  const owner: Writing = replaced !== undefined && isRunaway() ? replaced : stdout;
  owner.write.call(stdout, text, (error) => {
    // The stream emits the error next, e.g. when the reader of a pipe has ended. Without a listener that ends the process.
    if (!error || stdout.listeners('error').includes(ignoreError)) return;
    stdout.on('error', ignoreError);
    setImmediate(() => stdout.off('error', ignoreError));
  });
}

function ignoreError(): void {
  // An application's own listener gets the error, too.
}

/** The stream behind a function in place of `process.stdout.write`. There is none if all of `process.stdout` was replaced. */
function replacedWriting(): Writing | undefined {
  if (!Object.hasOwn(process.stdout, 'write')) return undefined;
  const behind = Object.getPrototypeOf(process.stdout) as Partial<Writing> | null;
  return typeof behind?.write === 'function' ? (behind as Writing) : undefined;
}

/** Whether this turn has written so often that it may never end. */
function isRunaway(): boolean {
  if (replacedWrites === 0) setImmediate(() => (replacedWrites = 0)).unref();
  return ++replacedWrites > MAX_REPLACED_WRITES;
}
