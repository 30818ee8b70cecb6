import { afterEach, beforeEach, expect } from '@jest/globals';
import { context, diag, DiagLogLevel, metrics, propagation, trace } from '@opentelemetry/api';
import { resetProcessState } from '../src/core/state/process-state.js';

// Spans that are ended twice, touched after their end, or sent through two SDKs only show in the SDK's own log.
const SPAN_MISUSE = /\bended\b|end\(\)|duplicate/i;
const sdkComplaints: string[] = [];

function collect(...parts: unknown[]): void {
  sdkComplaints.push(parts.map(String).join(' '));
}

const collector = { error: collect, warn: collect, info: collect, debug: collect, verbose: collect };

beforeEach(() => {
  sdkComplaints.length = 0;
  diag.setLogger(collector, { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true });
});

afterEach(() => {
  // First, so that a failing expectation below leaves nothing behind for the next test.
  resetProcessState();
  trace.disable();
  context.disable();
  propagation.disable();
  metrics.disable();
  expect(sdkComplaints.filter((message) => SPAN_MISUSE.test(message))).toEqual([]);
});
