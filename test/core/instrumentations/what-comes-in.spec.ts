import { expect, it } from 'vitest';
import { context, SpanKind, trace } from '@opentelemetry/api';
import { suppressTracing } from '@opentelemetry/core';
import { enabledSpanGroups, SpanRegistry } from 'nest-lens/core';
import { captureWarnings } from '../../support/capture-warnings.js';
import { setUpForTest } from '../../support/live-telemetry.js';

const HTTP = '@opentelemetry/instrumentation-http';

/** As `@fastify/otel` begins a request: by what it finds, http's span is there or not. */
function beginRequest(kind: SpanKind): void {
  trace.getTracer('@fastify/otel').startSpan('request', { kind }).end();
}

it('a request that http ignores, such as /health, does not put the spans of Fastify into default', async () => {
  captureWarnings();
  await setUpForTest({ spanGroups: 'default' }, { instrumentationGroups: true });
  trace.getTracer(HTTP).startSpan('GET', { kind: SpanKind.SERVER }).end();
  beginRequest(SpanKind.INTERNAL);
  context.with(suppressTracing(context.active()), () => beginRequest(SpanKind.SERVER));
  expect(enabledSpanGroups()).toEqual(new Set(['http_server']));
  expect(SpanRegistry.presets().get('per_request')).toContain('fastify');
});

it('where http has no instrumentation, requests come in by Fastify, whose spans are in default', async () => {
  captureWarnings();
  await setUpForTest({ spanGroups: 'default' }, { instrumentationGroups: true });
  beginRequest(SpanKind.SERVER);
  expect(enabledSpanGroups()).toEqual(new Set(['fastify']));
});
