import { processState } from '../../src/core/state/process-state.js';
import { vi } from 'vitest';

const API = Symbol.for('opentelemetry.js.api.1');

const { clearInterval, clearTimeout, Date, performance, setImmediate, setInterval, setTimeout } = globalThis;
const REAL = { clearInterval, clearTimeout, Date, performance, setImmediate, setInterval, setTimeout };

/** Vitest leaves a fake one in place if a test spies on it and restores it. */
export function backToRealTimers(): void {
  vi.useRealTimers();
  Object.assign(globalThis, REAL);
}

/** What a test file may not leave behind, because the files after it run in the same process. */
export function processAsFound() {
  const registered = (globalThis as unknown as Record<symbol, object | undefined>)[API] ?? {};
  const events = process.eventNames().filter((name) => typeof name === 'string' && name !== 'newListener');
  return {
    variables: { ...process.env },
    listeners: Object.fromEntries(events.map((name) => [name, process.listenerCount(name)])),
    registered: Object.keys(registered).filter((name) => name !== 'version'),
    answers: processState.verdicts.answers.size,
    timers: vi.isFakeTimers() || globalThis.setTimeout !== REAL.setTimeout ? 'fake' : 'real',
  };
}
