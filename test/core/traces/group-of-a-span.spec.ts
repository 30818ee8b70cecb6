import { expect, it } from 'vitest';
import { ROOT_CONTEXT, SpanKind, trace } from '@opentelemetry/api';
import { setSpanGroupSpec } from 'nest-lens/core';
import { keepRecentTraces } from '../../../src/core/telemetry/keep-recent-traces.js';
import { listRecentTraces, recentTrace } from '../../../src/core/traces/recent-trace-report.js';
import { captureWarnings } from '../../support/capture-warnings.js';
import { setUpForTest } from '../../support/live-telemetry.js';

const { INTERNAL, SERVER, CLIENT, PRODUCER, CONSUMER } = SpanKind;

/** Scope, name of the span, and its group by kind. */
const SPANS: readonly [scope: string, name: string, groups: Readonly<Partial<Record<SpanKind, string>>>][] = [
  ['@opentelemetry/instrumentation-pg', 'query', { [CLIENT]: 'pg', [INTERNAL]: 'pg' }],
  [
    '@opentelemetry/instrumentation-http',
    'GET',
    {
      [SERVER]: 'http_server',
      [CLIENT]: 'http_client',
      [INTERNAL]: 'http_client',
      [CONSUMER]: 'http_server',
      [PRODUCER]: 'http_client',
    },
  ],
  [
    '@opentelemetry/instrumentation-kafkajs',
    'orders',
    {
      [PRODUCER]: 'kafkajs_producer',
      [CONSUMER]: 'kafkajs_consumer',
      [CLIENT]: 'kafkajs_consumer',
      [INTERNAL]: 'kafkajs_producer',
      [SERVER]: 'kafkajs_consumer',
    },
  ],
  [
    '@opentelemetry/instrumentation-aws-sdk',
    'SQS',
    {
      [PRODUCER]: 'aws_sdk_producer',
      [CONSUMER]: 'aws_sdk_consumer',
      [CLIENT]: 'aws_sdk_client',
      [INTERNAL]: 'aws_sdk_client',
      [SERVER]: 'aws_sdk_consumer',
    },
  ],
  ['@opentelemetry/instrumentation-graphql', 'graphql.execute', { [INTERNAL]: 'graphql' }],
  ['@opentelemetry/instrumentation-graphql', 'graphql.resolve user', { [INTERNAL]: 'graphql_resolve' }],
];

it.each(
  SPANS.flatMap(([scope, name, groups]) =>
    Object.entries(groups).map(([kind, group]) => [scope, name, Number(kind) as SpanKind, group] as const),
  ),
)(
  'the list of traces shows for %s, %s, kind %i, the group that its gate asks',
  async (scope, name, kind, group) => {
    captureWarnings();
    await setUpForTest({ spanGroups: group }, { instrumentationGroups: true });
    keepRecentTraces({ limit: 10, ownRoutes: [] });
    const make = () => trace.getTracer(scope).startSpan(name, { kind }, ROOT_CONTEXT).end();
    make();
    const shown = listRecentTraces().flatMap(({ traceId }) => recentTrace(traceId)!.spans);
    expect(shown.map((span) => span.group)).toEqual([group]);
    setSpanGroupSpec(`all,-${group}`);
    make();
    expect(listRecentTraces()).toHaveLength(1);
  },
);
