// Real instrumentations that were there long before NestLens, in an application with an SDK of its own.
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { type BrokerServer, hasBroker, startBroker } from '../../support/broker-servers.js';
import { hasPostgres, type PostgresServer, startPostgres } from '../../support/postgres-server.js';
import { FROM_CALLER, groupOf, type KeptSpan, SpanTree } from './span-trees.js';
import { describeWith } from '../../support/describe-with.js';

vi.setConfig({ testTimeout: 180_000 });

interface Outcome {
  states: Record<string, KeptSpan[]>;
  refused: string;
  groupsLeft: string[];
  open: number;
  complaints: string[];
}

const isInstalled = hasPostgres() && hasBroker('redis');

/** The client's port is another one each time; what the handler sets is on the nearest span that is on. */
const isSteady = ([key]: [string, unknown]): boolean => key !== 'network.peer.port' && key !== 'user.id';

/** Everything that a span is, but its ids and times: where it is, what it is, and what it says. */
function described(spans: readonly KeptSpan[], isOn?: (span: KeptSpan) => boolean): string[] {
  const tree = new SpanTree(spans, isOn);
  return spans
    .filter((span) => isOn?.(span) !== false)
    .map(({ id, kind, attributes }) => {
      const said = Object.entries(attributes).filter(isSteady).sort();
      return `${tree.pathTo(id, 'the caller')} ${kind} ${JSON.stringify(said).replace(/[0-9a-f]{16,32}/g, 'id')}`;
    })
    .sort();
}

describeWith('postgresql or redis-server', isInstalled, 'attached to what serves already', () => {
  let postgres: PostgresServer;
  let redis: BrokerServer;
  let outcome: Outcome;
  beforeAll(async () => {
    [postgres, redis] = await Promise.all([startPostgres(), startBroker('redis')]);
    const program = fileURLToPath(new URL('./programs/attached-late.cjs', import.meta.url));
    const task = { pgPort: postgres.port, redisPort: redis.port, headers: FROM_CALLER };
    const { stdout, stderr } = await promisify(execFile)(
      process.execPath,
      ['--no-opt', program, JSON.stringify(task)],
      {
        maxBuffer: 2 ** 26,
      },
    );
    expect(stderr).toBe('');
    outcome = JSON.parse(stdout) as Outcome;
  });
  afterAll(() => Promise.all([postgres.stop(), redis.stop()]));

  const stateOf = (state: string): KeptSpan[] => outcome.states[state]!;

  it('a span that is on is the span that the tracer makes without NestLens, in every attribute', () => {
    expect(stateOf('before').length).toBeGreaterThan(35);
    expect(described(stateOf('all on'))).toEqual(described(stateOf('before')));
  });

  it('every instrumentation is gated, though each has its tracer and has made spans', () => {
    const noPg = (span: KeptSpan): boolean => groupOf(span) !== 'pg';
    expect(described(stateOf('pg off, by the other copy'))).toEqual(described(stateOf('before'), noPg));
    const overridden = new Set(['http_server', 'redis']);
    expect(described(stateOf('an override'))).toEqual(
      described(stateOf('before'), (span) => overridden.has(groupOf(span))),
    );
    expect(described(stateOf('the override cleared'))).toEqual(described(stateOf('before'), noPg));
  });

  it('what the handler sets on the active span is on the nearest one that is on', () => {
    const marked = (state: string): string[] =>
      stateOf(state)
        .filter(({ attributes }) => attributes['user.id'] === 7)
        .map(groupOf);
    expect(marked('all on')).toEqual(['nestjs_core']);
    expect(marked('an override')).toEqual(['http_server']);
  });

  it('two copies of the package gate once: the second set-up is refused, and its spec is the spec of both', () => {
    expect(outcome.refused).toBe('TELEMETRY_ALREADY_SET_UP');
  });

  it('a shutdown takes everything back, and a second set-up gates again, whichever copy makes it', () => {
    expect(described(stateOf('after the shutdown'))).toEqual(described(stateOf('before')));
    expect(outcome.groupsLeft).toEqual(['orders', 'own']);
    expect(described(stateOf('set up again, by the other copy'))).toEqual(
      described(stateOf('before'), (span) => groupOf(span) === 'http_server'),
    );
    expect(described(stateOf('at the end'))).toEqual(described(stateOf('before')));
  });

  it('no span is left open, and none is ended twice', () => {
    expect(outcome.open).toBe(0);
    expect(outcome.complaints).toEqual([]);
  });
});
