import { afterAll, afterEach, beforeAll, beforeEach, expect } from 'vitest';
import { context, diag, DiagLogLevel, metrics, propagation, trace } from '@opentelemetry/api';
import { resetProcessState } from '../src/core/state/process-state.js';
import { cleanUpAfterTest } from './support/after-each-test.js';
import { backToRealTimers, processAsFound } from './support/process-as-found.js';

// Spans that are ended twice, touched after their end, or sent through two SDKs only show in the SDK's own log.
const SPAN_MISUSE = /\bended\b|end\(\)|duplicate/i;
const sdkComplaints: string[] = [];

function collect(...parts: unknown[]): void {
  sdkComplaints.push(parts.map(String).join(' '));
}

const collector = { error: collect, warn: collect, info: collect, debug: collect, verbose: collect };

let found: ReturnType<typeof processAsFound>;
let variables: NodeJS.ProcessEnv;
let beforeExit: readonly unknown[];

beforeAll(() => {
  backToRealTimers();
  found = processAsFound();
});

beforeEach(() => {
  variables = { ...process.env };
  beforeExit = process.listeners('beforeExit');
  sdkComplaints.length = 0;
  diag.setLogger(collector, { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true });
});

afterEach(async () => {
  // First, so that a failing expectation below leaves nothing behind for the next test.
  resetProcessState();
  trace.disable();
  context.disable();
  propagation.disable();
  metrics.disable();
  backToRealTimers();
  await cleanUpAfterTest();
  diag.disable();
  for (const name of Object.keys(process.env)) if (!(name in variables)) delete process.env[name];
  Object.assign(process.env, variables);
  // A telemetry that a test leaves on would flush when the process of all tests ends.
  for (const listener of process.listeners('beforeExit')) {
    if (!beforeExit.includes(listener)) process.off('beforeExit', listener);
  }
  expect(sdkComplaints.filter((message) => SPAN_MISUSE.test(message))).toEqual([]);
});

afterAll(() => {
  expect(processAsFound(), 'what the file leaves behind').toEqual(found);
});
