import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Span, SpanStatusCode, trace } from '@opentelemetry/api';
import { DummyDriver, Kysely, PostgresAdapter, PostgresIntrospector, PostgresQueryCompiler } from 'kysely';
import { managedSpan, setEnabledSpanGroups } from 'nest-lens/core';
import { captureSpans, type CapturedSpans, exceptions } from '../../support/capture-spans.js';
import { type OpenClient, REAL_CLIENTS } from '../../support/real-clients.js';

// What users return from a method without awaiting it: queries that run when they are awaited, promises with members.

let spans: CapturedSpans;
beforeEach(() => {
  spans = captureSpans();
  setEnabledSpanGroups(['orders']);
});

const macrotask = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** A query as its makers see it: what holds while it waits, too, as far as a loop over its members shows. */
interface Look {
  readonly prototype: unknown;
  readonly enumerable: readonly string[];
}

const look = (query: object): Look => ({
  prototype: Object.getPrototypeOf(query),
  enumerable: Object.keys(query),
});

describe.each(REAL_CLIENTS.map((client) => [client.name, client] as const))('%s', (_name, client) => {
  let open: OpenClient;
  let runs: { inside: Span | undefined; openCount: number }[];
  beforeEach(async () => {
    runs = [];
    open = await client.open(async () => {
      const inside = trace.getActiveSpan();
      await new Promise((resolve) => setTimeout(resolve, 5));
      runs.push({ inside, openCount: spans.openCount() });
    });
  });
  afterEach(async () => void (await open.close()));

  /** The query as the body made it, as the caller got it, and how it looked before anybody could touch it. */
  function make(fails = false) {
    let made: PromiseLike<unknown> | undefined;
    let before: Look & { keys: readonly PropertyKey[] };
    let span: Span | undefined;
    const got = managedSpan('orders', 'work', (active) => {
      span = active;
      made = open.query(fails);
      before = { ...look(made), keys: Reflect.ownKeys(made) };
      return made;
    });
    return { got, isSame: Object.is(got, made), before: before!, span };
  }

  it('I9: its query is handed back as the very same object, with the same members, off and on', async () => {
    setEnabledSpanGroups([]);
    const off = make();
    await off.got;
    setEnabledSpanGroups(['orders']);
    const on = make();
    expect([off.isSame, on.isSame]).toEqual([true, true]);
    expect(look(on.got)).toEqual({ prototype: on.before.prototype, enumerable: on.before.enumerable });
    expect(on.before.enumerable).toEqual(off.before.enumerable);
    await on.got;
    expect(Object.hasOwn(on.got, 'then')).toBe(on.before.keys.includes('then'));
  });

  it('I9: its query is awaited with the same answer as without a span, and executed once', async () => {
    setEnabledSpanGroups([]);
    const plain: unknown = await make().got;
    expect(spans.all()).toEqual([]);
    setEnabledSpanGroups(['orders']);
    runs.length = 0;
    const { got, span } = make();
    expect(spans.openCount()).toBe(1);
    const answer: unknown = await got;
    expect(JSON.stringify(withoutTimes(answer))).toBe(JSON.stringify(withoutTimes(plain)));
    expect(runs).toHaveLength(1);
    expect(runs[0]!.openCount).toBe(1);
    if (client.isInProcess) expect(runs[0]!.inside).toBe(span);
    expect(spans.openCount()).toBe(0);
    const { status, attributes } = spans.single('work');
    expect([status.code, attributes]).toEqual([SpanStatusCode.UNSET, { 'nestlens.group': 'orders' }]);
  });

  it('I9: its query that nobody awaits is not executed by the span, which ends at the next macrotask', async () => {
    const { got, before } = make();
    await macrotask();
    await macrotask();
    expect(spans.openCount()).toBe(0);
    expect(spans.single('work').attributes).toEqual({ 'nestlens.group': 'orders' });
    expect(Object.hasOwn(got, 'then')).toBe(before.keys.includes('then'));
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(runs.length).toBe(client.isLazy ? 0 : 1);
    await got; // still usable, and somebody has to take what it gives
  });

  it('I9, I2: its query that fails is an error of the span, and rejects with the same reason', async () => {
    setEnabledSpanGroups([]);
    const plain = await reasonOf(make(true).got);
    setEnabledSpanGroups(['orders']);
    const reason = await reasonOf(make(true).got);
    expect([reason.constructor.name, reason.message]).toEqual([plain.constructor.name, plain.message]);
    const span = spans.single('work');
    expect(span.status).toEqual({ code: SpanStatusCode.ERROR, message: reason.message });
    expect(exceptions(span)).toHaveLength(1);
    expect(spans.openCount()).toBe(0);
  });
});

describe('Kysely', () => {
  it('I9: its builder is no thenable and handed back as it is; the promise of its execute() is followed', async () => {
    const database = new Kysely<{ users: { id: number } }>({
      dialect: {
        createAdapter: () => new PostgresAdapter(),
        createDriver: () => new DummyDriver(),
        createIntrospector: (db) => new PostgresIntrospector(db),
        createQueryCompiler: () => new PostgresQueryCompiler(),
      },
    });
    const builder = database.selectFrom('users').selectAll();
    expect(managedSpan('orders', 'builder', () => builder)).toBe(builder);
    expect(spans.single('builder').attributes).toEqual({ 'nestlens.group': 'orders' });
    const rows = managedSpan('orders', 'rows', () => builder.execute());
    expect(spans.openCount()).toBe(1);
    expect(await rows).toEqual([]);
    expect(spans.openCount()).toBe(0);
  });
});

async function reasonOf(query: PromiseLike<unknown>): Promise<Error> {
  try {
    await query;
  } catch (reason) {
    return reason as Error;
  }
  throw new Error('it did not fail');
}

/** The result of a process says how long it took. */
function withoutTimes(answer: unknown): unknown {
  if (typeof answer !== 'object' || answer === null || !('durationMs' in answer)) return answer;
  return (answer as unknown as { stdout: string }).stdout;
}
