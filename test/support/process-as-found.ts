import { processState } from '../../src/core/state/process-state.js';
import { vi } from 'vitest';

const API = Symbol.for('opentelemetry.js.api.1');

/** What a test file may not leave behind, because the files after it run in the same process. */
export function processAsFound() {
  const registered = (globalThis as unknown as Record<symbol, object | undefined>)[API] ?? {};
  const events = process.eventNames().filter((name) => typeof name === 'string' && name !== 'newListener');
  return {
    variables: { ...process.env },
    listeners: Object.fromEntries(events.map((name) => [name, process.listenerCount(name)])),
    registered: Object.keys(registered).filter((name) => name !== 'version'),
    answers: processState.verdicts.answers.size,
    timers: vi.isFakeTimers() ? 'fake' : 'real',
  };
}
