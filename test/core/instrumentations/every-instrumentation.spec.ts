// One request that passes fifteen real instrumentations, for many sets of their groups.
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { type BrokerServer, hasBroker, startBroker } from '../../support/broker-servers.js';
import { hasPostgres, type PostgresServer, startPostgres } from '../../support/postgres-server.js';
import {
  type Answer,
  type AskedRequest,
  CALLERS_SPAN,
  CALLERS_TRACE,
  FROM_CALLER,
  groupOf,
  sentId,
  type KeptSpan,
  SpanTree,
} from './span-trees.js';
import { describeWith } from '../../support/describe-with.js';

vi.setConfig({ testTimeout: 180_000 });

interface Outcome {
  answers: Answer[];
  groups: string[];
  presets: Record<string, string[]>;
  metrics: Record<'served' | 'asked' | 'queries' | 'counted', Record<string, number>>;
  underLoad: { flips: number; errors: string[]; spans: KeptSpan[] };
  open: number;
  complaints: string[];
}

const IN_ORDERS = [
  ...['http_server', 'express', 'nestjs_core', 'orders', 'own', 'pg', 'knex', 'mysql2', 'ioredis', 'redis'],
  ...['graphql', 'graphql_resolve', 'http_client', 'undici', 'grpc_client', 'grpc_server', 'prisma'],
];
const IN_FAST = ['http_server', 'fastify', 'pg'];
const FLIPPED = 100;

/** Always the same numbers, so that what fails once fails again. */
function createRandom(seed: number): () => number {
  let state = seed;
  return () => (state = (state * 48_271) % 2_147_483_647) / 2_147_483_647;
}

const random = createRandom(7);
const inSome = (): string[] => IN_ORDERS.filter(() => random() < 0.5);
const fromCaller = [
  IN_ORDERS,
  [],
  ...IN_ORDERS.map((group) => [group]),
  ...IN_ORDERS.map((group) => IN_ORDERS.filter((other) => other !== group)),
  ...Array.from({ length: 10 }, inSome),
];
const fromNobody = [IN_ORDERS, [], ['http_server'], ...Array.from({ length: 10 }, inSome)];
const ofFast = Array.from({ length: 8 }, (_, bits) =>
  IN_FAST.filter((_group, at) => bits & (1 << at)),
).reverse();

const requests: AskedRequest[] = [
  ...fromCaller.map((on) => ({ spec: on.join(), path: '/orders/1', headers: FROM_CALLER })),
  ...fromNobody.map((on) => ({ spec: on.join(), path: '/orders/1' })),
  ...ofFast.map((on) => ({ spec: on.join(), path: '/fast/1', headers: FROM_CALLER })),
  ...ofFast.map((on) => ({ spec: on.join(), path: '/fast/1' })),
];

/**
 * Below nothing at all instrumentation-pg binds no callback, so what runs in one is wherever its connection was opened. It is the
 * same without any other instrumentation.
 */
const isUnboundPg = (path: string): boolean => /^none( > pg|$)/.test(path);

const isInstalled = hasPostgres() && hasBroker('redis');

describeWith('postgresql or redis-server', isInstalled, 'a request that passes every instrumentation', () => {
  let postgres: PostgresServer;
  let redis: BrokerServer;
  let outcome: Outcome;
  beforeAll(async () => {
    [postgres, redis] = await Promise.all([startPostgres(), startBroker('redis')]);
    const program = fileURLToPath(new URL('./programs/every-instrumentation.cjs', import.meta.url));
    const task = { pgPort: postgres.port, redisPort: redis.port, requests, flipped: FLIPPED };
    const { stdout, stderr } = await promisify(execFile)(
      process.execPath,
      ['--no-opt', program, JSON.stringify(task)],
      {
        maxBuffer: 2 ** 28,
      },
    );
    expect(stderr).toBe('');
    outcome = JSON.parse(stdout) as Outcome;
  });
  afterAll(() => Promise.all([postgres.stop(), redis.stop()]));

  /** Each request with what it would have given if every group had been on, without the groups that are off. */
  function* compared() {
    for (const [i, { spec, path, headers }] of requests.entries()) {
      const on = spec.split(',');
      const full = outcome.answers[requests.findIndex((request) => request.path === path)]!;
      const caller = headers === undefined ? 'none' : 'the caller';
      const expected = new SpanTree(full.spans, (span) => on.includes(groupOf(span)));
      const answer = outcome.answers[i]!;
      yield { spec, caller, full, expected, answer, tree: new SpanTree(answer.spans) };
    }
  }

  const made = (tree: SpanTree, caller: string): string[] =>
    tree.paths(caller).filter((path) => !isUnboundPg(path));

  it('I11: gives the tree of all groups without those that are off', () => {
    expect(outcome.answers[0]!.spans.length).toBeGreaterThanOrEqual(40);
    expect(new Set(outcome.answers[0]!.spans.map(groupOf))).toEqual(new Set(IN_ORDERS));
    for (const { spec, caller, expected, tree } of compared()) {
      expect({ spec, caller, paths: made(tree, caller) }).toEqual({
        spec,
        caller,
        paths: made(expected, caller),
      });
    }
  });

  it("is one trace, the caller's if there is one, and no span has a parent that nobody made", () => {
    for (const { caller, answer } of compared()) {
      const ids = new Set(answer.spans.map(({ id }) => id));
      const roots = answer.spans.filter(({ parent }) => parent === undefined);
      const orphans = answer.spans.filter(
        ({ parent = CALLERS_SPAN }) => parent !== CALLERS_SPAN && !ids.has(parent),
      );
      expect(orphans).toEqual([]);
      const traces = new Set(answer.spans.map(({ traceId }) => traceId));
      if (caller === 'none') expect(traces.size).toBe(roots.length);
      else expect([...traces, CALLERS_TRACE].every((traceId) => traceId === CALLERS_TRACE)).toBe(true);
    }
  });

  it('sends the nearest span that is on as traceparent, by http, fetch, gRPC and in SQL', () => {
    for (const { spec, caller, full, expected, answer, tree } of compared()) {
      for (const [way, traceparent] of Object.entries(full.sent)) {
        const outer = expected.pathTo(sentId(traceparent), caller);
        if (way === 'sql' && isUnboundPg(outer)) continue;
        expect({ spec, caller, way, sent: tree.pathTo(sentId(answer.sent[way]!), caller) }).toEqual({
          spec,
          caller,
          way,
          sent: outer,
        });
      }
    }
  });

  it("leaves the nearest span that is on the active one, everywhere in the application's code", () => {
    for (const { spec, caller, full, expected, answer, tree } of compared()) {
      for (const [place, id] of Object.entries(full.active)) {
        const active = answer.active[place];
        const outer = expected.pathTo(id, caller);
        if (place === 'callback of pg' && isUnboundPg(outer)) continue;
        expect({ spec, caller, place, active: tree.pathTo(active, caller) }).toEqual({
          spec,
          caller,
          place,
          active: outer,
        });
        // With neither a span nor a caller nothing is active, not a span that records nothing.
        if (outer === 'none') expect(active).toBeNull();
      }
    }
  });

  it('I11: registers the groups, and puts them into the presets for a start', () => {
    expect(outcome.groups).toEqual([...new Set([...IN_ORDERS, ...IN_FAST])].sort());
    const { all, ...presets } = outcome.presets;
    expect(all).toEqual(outcome.groups);
    expect(presets).toEqual({
      default: ['grpc_server', 'http_server'],
      per_request: [
        ...['express', 'fastify', 'graphql', 'grpc_client', 'grpc_server', 'http_client', 'http_server'],
        ...['nestjs_core', 'undici'],
      ],
      databases: ['knex', 'mysql2', 'pg', 'prisma'],
      caches: ['ioredis', 'redis'],
      http: ['http_client', 'http_server'],
      grpc: ['grpc_client', 'grpc_server'],
    });
  });

  it('records the metrics of the instrumentations, http.route included, whichever groups are off', () => {
    const { served, asked, queries } = outcome.metrics;
    const toOrders = requests.filter(({ path }) => path === '/orders/1').length + 1;
    const toFast = requests.length + 2 - toOrders;
    expect(served).toEqual({ '/orders/:id': toOrders, '/fast/:id': toFast });
    expect(asked).toEqual({ '127.0.0.1': 2 * toOrders });
    expect(queries['postgresql']).toBeGreaterThanOrEqual(4 * toOrders + 2 * toFast);
  });

  it('N11: counts the spans that were made, by their groups', () => {
    const made = outcome.answers.flatMap(({ spans }) => spans).filter((span) => groupOf(span) === 'mysql2');
    // And that of the first request, for which the program warms up.
    expect(outcome.metrics.counted['mysql2']).toBe(made.length + 1);
  });

  it('flipped under load: no error, no span with a parent that nobody made, none open, none ended twice', () => {
    const { flips, errors, spans } = outcome.underLoad;
    expect(flips).toBeGreaterThan(50);
    expect(errors).toEqual([]);
    expect(new Set(spans.map(groupOf)).size).toBeGreaterThan(8);
    const ids = new Set(spans.map(({ id }) => id));
    expect(ids.size).toBe(spans.length);
    expect(spans.filter(({ parent }) => parent !== undefined && !ids.has(parent))).toEqual([]);
    expect(outcome.open).toBe(0);
    expect(outcome.complaints).toEqual([]);
  });
});
