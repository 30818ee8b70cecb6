import { afterEach } from 'vitest';
import { guardEachTest } from './lens-app.js';

const open: (() => unknown)[] = [];

/** Closes what a test has opened, the last first, when the test is over. */
export function closeAfterTest(close: () => unknown): void {
  open.push(close);
}

/** Like `guardEachTest`, around tests that open more than applications: clients, sockets, child processes. */
export function guardTransportTests(): void {
  guardEachTest();
  // Hooks after a test run in reverse order: this one before the guards look at what was said, and before the applications of
  // `lensApp` are closed, which would wait for what is open.
  afterEach(async () => {
    for (const close of open.splice(0).reverse()) await close();
  });
}
