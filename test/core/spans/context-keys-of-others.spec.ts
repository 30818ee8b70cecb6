import { describe, expect, it } from 'vitest';
import { ROOT_CONTEXT, trace } from '@opentelemetry/api';
import {
  getRPCMetadata,
  isTracingSuppressed,
  type RPCMetadata,
  RPCType,
  setRPCMetadata,
  suppressTracing,
} from '@opentelemetry/core';
import { RPC_METADATA, SUPPRESS_TRACING } from '../../../src/core/spans/context-keys-of-others.js';

describe('keys of contexts', () => {
  it('tracing that NestLens suppresses is suppressed for the SDK, and the other way round', () => {
    expect(isTracingSuppressed(ROOT_CONTEXT.setValue(SUPPRESS_TRACING, true))).toBe(true);
    expect(suppressTracing(ROOT_CONTEXT).getValue(SUPPRESS_TRACING)).toBe(true);
    expect(ROOT_CONTEXT.getValue(SUPPRESS_TRACING)).toBeUndefined();
  });

  it('I13: NestLens finds the metadata of the server span where the HTTP instrumentation keeps it', () => {
    const span = trace.wrapSpanContext({ traceId: '1'.repeat(32), spanId: '2'.repeat(16), traceFlags: 1 });
    const metadata: RPCMetadata = { type: RPCType.HTTP, span };
    expect(setRPCMetadata(ROOT_CONTEXT, metadata).getValue(RPC_METADATA)).toBe(metadata);
    expect(getRPCMetadata(ROOT_CONTEXT.setValue(RPC_METADATA, metadata))).toBe(metadata);
  });
});
