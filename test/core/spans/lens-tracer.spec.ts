import { describe, expect, it } from 'vitest';
import { context, type ProxyTracerProvider, trace } from '@opentelemetry/api';
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-base';
import { withSpan } from 'nest-lens/core';
import { captureSpans } from '../../support/capture-spans.js';

/** A provider of the real SDK, and the names of the spans that it got. */
function createProvider(): { provider: BasicTracerProvider; names(): string[] } {
  const exporter = new InMemorySpanExporter();
  const provider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] });
  return { provider, names: () => exporter.getFinishedSpans().map(({ name }) => name) };
}

describe('the tracer of NestLens', () => {
  it('H1: is that of the provider that is registered when a span starts, also behind one proxy for all providers', () => {
    // So it is where the SDK has another copy of the API than NestLens, as beside a bundle: nobody renews the SDK's proxy.
    const [first, second] = [createProvider(), createProvider()];
    trace.setGlobalTracerProvider(first.provider);
    withSpan('one', () => undefined);
    (trace.getTracerProvider() as ProxyTracerProvider).setDelegate(second.provider);
    withSpan('two', () => undefined);

    expect([first.names(), second.names()]).toEqual([['one'], ['two']]);
  });

  it('is asked for once of each provider', () => {
    const spans = captureSpans();
    for (let i = 0; i < 3; i++) withSpan('work', () => undefined);
    expect([spans.names().length, spans.tracerLookups()]).toEqual([3, 1]);

    trace.disable();
    context.disable();
    const others = captureSpans();
    for (let i = 0; i < 3; i++) withSpan('work', () => undefined);
    expect([others.names().length, others.tracerLookups(), spans.tracerLookups()]).toEqual([3, 1, 1]);
  });

  it('H6: is found when the provider comes after the first span', () => {
    withSpan('early', () => undefined);
    const { provider, names } = createProvider();
    trace.setGlobalTracerProvider(provider);
    withSpan('late', () => undefined);

    expect(names()).toEqual(['late']);
  });
});
