// A library that makes a scope for each request costs no group that somebody has named.
import { beforeEach, expect, it } from 'vitest';
import { SpanKind, trace } from '@opentelemetry/api';
import { BasicTracerProvider, type ReadableSpan } from '@opentelemetry/sdk-trace-base';
import {
  enabledSpanGroups,
  type InstrumentationGroupsOptions,
  overrideSpanGroups,
  SpanRegistry,
} from 'nest-lens/core';
import { captureWarnings } from '../../support/capture-warnings.js';
import { setUpForTest } from '../../support/live-telemetry.js';

const PG = '@opentelemetry/instrumentation-pg';
const HTTP = '@opentelemetry/instrumentation-http';

const ended: string[] = [];
beforeEach(() => {
  captureWarnings(); // none on the console
  ended.length = 0;
});

const keeping = {
  onStart: () => undefined,
  onEnd: (span: ReadableSpan) => void ended.push(span.name),
  forceFlush: () => Promise.resolve(),
  shutdown: () => Promise.resolve(),
};

const setUp = (spanGroups: string, instrumentationGroups: InstrumentationGroupsOptions | true = true) =>
  setUpForTest({ spanGroups }, { spanProcessors: [keeping], instrumentationGroups });

const start = (scope: string, kind = SpanKind.INTERNAL): void =>
  trace.getTracer(scope).startSpan(scope, { kind }).end();

function flood(scopes = 250): void {
  for (let tenant = 0; tenant < scopes; tenant++) start(`tenant-${tenant}`);
}

it('a known instrumentation has its groups, whenever it comes', async () => {
  await setUp('pg,http_server');
  flood();
  start(PG);
  start(HTTP, SpanKind.SERVER);
  start(HTTP, SpanKind.CLIENT);
  expect(ended).toEqual([PG, HTTP]);
  expect(SpanRegistry.presets().get('http')).toEqual(new Set(['http_client', 'http_server']));
});

it('the presence of http is known, so fastify stays a step of the request', async () => {
  await setUp('');
  flood();
  start(HTTP, SpanKind.SERVER);
  start('@fastify/otel', SpanKind.SERVER);
  expect(SpanRegistry.presets().get('default')).toEqual(new Set(['http_server']));
});

it('a scope in names has its name, or is left alone', async () => {
  const warnings = captureWarnings();
  const handle = await setUp('mine', { names: { 'my-lib/tracing': 'mine', 'free-lib': false } });
  flood();
  start('my-lib/tracing');
  start('free-lib');
  start('other-lib');
  expect(ended).toEqual(['my-lib/tracing', 'free-lib']);
  await handle.shutdown();
  expect(warnings.codes()).not.toContain('INSTRUMENTATION_OPTION_UNMATCHED');
});

it.each<[string, spec: string, option?: InstrumentationGroupsOptions]>([
  ['the spec', 'default,reports'],
  ['an exclusion of the spec', 'other_scopes,-other_scopes,all,-other_scopes,-Reports'],
  ['a direction in the spec', 'reports_consumer'],
  ['a preset of the option', 'mine', { presets: { mine: ['reports'] } }],
  ['a preset of the application', 'app'],
])('a scope that %s names has a group of its own', async (_what, spec, option) => {
  SpanRegistry.register('shop', ['orders'], { app: ['reports'] });
  if (spec !== 'app') SpanRegistry.unregister('shop');
  await setUp(spec, option);
  flood();
  start('reports', spec === 'reports_consumer' ? SpanKind.CONSUMER : SpanKind.INTERNAL);
  start('nobody-names-it');
  expect(SpanRegistry.groups()).toContain(spec === 'reports_consumer' ? spec : 'reports');
  expect(SpanRegistry.groups()).toContain('other_scopes');
  expect(ended.filter((name) => name === 'reports')).toHaveLength(spec.includes('-') ? 0 : 1);
});

it('an override names scopes as well, and its end takes no group away', async () => {
  await setUp('');
  flood();
  overrideSpanGroups('reports');
  start('reports');
  overrideSpanGroups('');
  start('reports');
  expect(SpanRegistry.groups()).toContain('reports');
  expect(ended).toEqual(['reports']);
});

it('known and named scopes take no place of unknown ones', async () => {
  const names = Object.fromEntries(Array.from({ length: 150 }, (_, i) => [`named-${i}`, `named_${i}`]));
  await setUp('', { names });
  for (let i = 0; i < 150; i++) start(`named-${i}`);
  start(PG);
  flood(200);
  expect(SpanRegistry.groups()).toContain('tenant_199');
  expect(SpanRegistry.groups()).not.toContain('other_scopes');
});

it('of tracers that were made before the set-up, too, those that are named have their groups at once', async () => {
  const provider = new BasicTracerProvider({ spanProcessors: [keeping] });
  trace.setGlobalTracerProvider(provider);
  for (let tenant = 0; tenant < 250; tenant++) provider.getTracer(`tenant-${tenant}`);
  for (const scope of [PG, 'reports', 'later']) provider.getTracer(scope);
  const warnings = captureWarnings();
  await setUpForTest({ spanGroups: 'reports,pg' }, { instrumentationGroups: true });
  expect(warnings.codes()).toEqual([]);
  expect(enabledSpanGroups()).toEqual(new Set(['pg', 'reports']));
  overrideSpanGroups('later');
  for (const scope of [PG, 'reports', 'later', 'tenant-249']) start(scope);
  expect(ended).toEqual(['later']);
});
