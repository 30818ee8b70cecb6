import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import type { CallHandler, ExecutionContext, NestInterceptor } from '@nestjs/common';
import { setSpanGroupSpec, SpanGroup, SpanGroupInterceptor, SpanRegistry } from 'nest-lens';
import { defer, lastValueFrom, type Observable, of, retry } from 'rxjs';
import { processState } from '../../../src/core/state/process-state.js';
import { type CapturedSpans, captureSpans } from '../../support/capture-spans.js';
import { turn } from '../../support/result-kinds.js';

describe('a handler under the SpanGroupInterceptor of two copies of the package', () => {
  const { answers } = processState.verdicts;
  const answersOfFirst = new Set(answers);
  let spans: CapturedSpans;
  let first: NestInterceptor;
  let second: NestInterceptor;
  beforeAll(async () => {
    vi.resetModules();
    const copy = await import('../../../src/nest/span-group/span-group.interceptor.js');
    first = new SpanGroupInterceptor();
    second = new copy.SpanGroupInterceptor();
    expect(second).not.toBeInstanceOf(SpanGroupInterceptor);
  });
  afterAll(() => {
    for (const answer of answers) if (!answersOfFirst.has(answer)) answers.delete(answer);
  });
  beforeEach(() => {
    spans = captureSpans();
    SpanRegistry.register('shop', ['orders']);
    setSpanGroupSpec('orders');
  });

  class Orders {
    @SpanGroup('orders')
    async read(fail = false): Promise<string> {
      await turn();
      if (fail) throw new Error('failure');
      return 'read';
    }
    @SpanGroup('orders')
    async other(): Promise<string> {
      await turn();
      return 'other';
    }
  }

  /** A request through both copies; `between` stands between them. */
  function request(
    handle: () => Observable<unknown>,
    between = (next: CallHandler): Observable<unknown> => next.handle(),
    handler: () => unknown = Orders.prototype.read,
  ): Promise<unknown> {
    const execution = {
      getType: () => 'rpc',
      getClass: () => Orders,
      getHandler: () => handler,
    } as unknown as ExecutionContext;
    const inner: CallHandler = {
      handle: () => second.intercept(execution, { handle }) as Observable<unknown>,
    };
    return lastValueFrom(first.intercept(execution, { handle: () => between(inner) }) as Observable<unknown>);
  }

  it('N5: gives one span a call, and another call of the method another one', async () => {
    await request(() => defer(() => new Orders().read()));
    await request(() => defer(() => new Orders().read()));

    expect(spans.names()).toEqual(['Orders.read', 'Orders.read']);
  });

  it('N5: gives one span for all tries of an interceptor between them', async () => {
    let calls = 0;
    await request(
      () => defer(() => new Orders().read(++calls < 3)),
      (next) => defer(() => next.handle()).pipe(retry(2)),
    );

    expect(calls).toBe(3);
    expect(spans.names()).toEqual(['Orders.read']);
  });

  it('N5: gives a span to a call that comes when the span of its request has ended', async () => {
    let late: Promise<unknown> | undefined;
    await request(
      () => defer(() => new Orders().read()),
      (next) => {
        late = turn().then(() => lastValueFrom(next.handle()));
        return of('kept');
      },
    );
    await late;

    expect(spans.names()).toEqual(['Orders.read', 'Orders.read']);
  });

  it("N5: gives one span to a request whose call is run in another's context, when that one is over", async () => {
    let isOver = (): void => undefined;
    const firstIsOver = new Promise<void>((resolve) => (isOver = resolve));
    let queued: (() => void) | undefined;
    const one = request(() =>
      defer(async () => {
        const read = await new Orders().read();
        // What was queued by the other request goes on in the context of this one.
        void firstIsOver.then(() => queued!());
        return read;
      }),
    );
    const two = request(
      () => defer(() => new Orders().read()),
      (next) => defer(() => new Promise((resolve) => (queued = () => resolve(lastValueFrom(next.handle()))))),
    );
    await one;
    isOver();
    await two;

    expect(spans.names()).toEqual(['Orders.read', 'Orders.read']);
  });

  it('N5: gives another handler that runs within a span of its own', async () => {
    await request(() =>
      defer(() => request(() => defer(() => new Orders().other()), undefined, Orders.prototype.other)),
    );

    expect(spans.names()).toEqual(['Orders.other', 'Orders.read']);
  });
});
