import {
  ConflictException,
  NotFoundException,
  ServiceUnavailableException,
  StreamableFile,
} from '@nestjs/common';
import { RpcException } from '@nestjs/microservices';
import { WsException } from '@nestjs/websockets';
import { GraphQLError } from 'graphql';
import { Readable } from 'node:stream';
import { Observable, type Subscriber } from 'rxjs';
import { tap } from 'rxjs/operators';
import type { Moment, Timeline } from './timeline.js';

/** What is the same for the decorator alone and with the interceptor. */
export interface SpanLife {
  /** What comes last before the span ends. */
  readonly ends: Moment;
  readonly status: 'unset' | 'error';
}

export interface ResultKind extends SpanLife {
  /** In the words of docs/span-life.md. */
  readonly result: string;
  /** The body of the handler. It notes on the timeline what it is about to do. An HTTP handler may take the response. */
  readonly handle: (timeline: Timeline, response?: any) => unknown;
  /** Of the exception that the span records. */
  readonly exception?: string;
  /** The span says that the work was given up. */
  readonly cancelled?: true;
  /** The client leaves, after the first value if there is one. */
  readonly clientLeaves?: true;
}

export const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

const VALUE = { id: 7 };

function value(timeline: Timeline): object {
  timeline.mark();
  timeline.note('returns');
  return VALUE;
}

const throwing =
  (error: () => unknown) =>
  (timeline: Timeline): never => {
    timeline.mark();
    timeline.note('throws');
    throw error();
  };

async function promise(timeline: Timeline): Promise<object> {
  timeline.mark();
  await turn();
  timeline.mark();
  timeline.note('settles');
  return VALUE;
}

const rejecting =
  (error: () => unknown) =>
  async (timeline: Timeline): Promise<never> => {
    timeline.mark();
    await turn();
    timeline.mark();
    timeline.note('settles');
    throw error();
  };

type ValueOf = (count: number) => unknown;
const itself: ValueOf = (count) => count;

/** Two values over time, then what `last` does. */
function observing(
  timeline: Timeline,
  last: (subscriber: Subscriber<unknown>) => void,
  valueOf: ValueOf,
): Observable<unknown> {
  return new Observable<unknown>((subscriber) => {
    timeline.mark();
    subscriber.next(valueOf(1));
    void turn()
      .then(() => subscriber.next(valueOf(2)))
      .then(turn)
      .then(() => last(subscriber));
  }).pipe(tap(() => timeline.mark()));
}

const observable =
  (valueOf = itself) =>
  (timeline: Timeline): Observable<unknown> =>
    observing(
      timeline,
      (subscriber) => {
        timeline.note('completes');
        subscriber.complete();
      },
      valueOf,
    );

const failing =
  (error: () => unknown, valueOf = itself) =>
  (timeline: Timeline): Observable<unknown> =>
    observing(
      timeline,
      (subscriber) => {
        timeline.note('fails');
        subscriber.error(error());
      },
      valueOf,
    );

const promiseOfObservable =
  (valueOf = itself) =>
  async (timeline: Timeline): Promise<Observable<unknown>> => {
    await turn();
    return observable(valueOf)(timeline);
  };

const endless =
  (valueOf = itself) =>
  (timeline: Timeline): Observable<unknown> =>
    new Observable((subscriber) => {
      timeline.mark();
      subscriber.next(valueOf(1));
      return () => timeline.note('unsubscribed');
    });

async function* generator(timeline: Timeline): AsyncGenerator<string> {
  timeline.mark();
  yield 'a';
  await turn();
  timeline.mark();
  yield 'b';
  timeline.note('exhausted');
}

async function* failingGenerator(timeline: Timeline): AsyncGenerator<string> {
  yield 'a';
  await turn();
  timeline.mark();
  timeline.note('throws');
  throw boom();
}

/** Goes on for ever; a moment after each value it waits for the next one. */
async function* endlessGenerator(timeline: Timeline): AsyncGenerator<string> {
  try {
    for (;;) {
      timeline.mark();
      yield 'a';
      await new Promise((resolve) => setTimeout(resolve, 2));
    }
  } finally {
    timeline.mark();
    timeline.note('returned early');
  }
}

/** What a publisher hands to its subscribers: an iterator of a class of its own, which isn't a generator. */
class Subscription implements AsyncIterableIterator<string> {
  private count = 0;

  constructor(private readonly timeline: Timeline) {}

  async next(): Promise<IteratorResult<string>> {
    await turn();
    this.count += 1;
    if (this.count <= 2) return { done: false, value: 'ab'.charAt(this.count - 1) };
    this.timeline.note('exhausted');
    return { done: true, value: undefined };
  }

  async return(): Promise<IteratorResult<string>> {
    return { done: true, value: undefined };
  }

  async throw(reason: unknown): Promise<never> {
    throw reason;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }
}

const boom = (): Error => new Error('boom');
const notFound = (): Error => new NotFoundException('not here');

const valueKinds: readonly ResultKind[] = [
  { result: 'a value', handle: value, ends: 'returns', status: 'unset' },
  {
    result: 'an error that is thrown at once',
    handle: throwing(boom),
    ends: 'throws',
    status: 'error',
    exception: 'boom',
  },
  { result: 'a promise', handle: promise, ends: 'settles', status: 'unset' },
  {
    result: 'a promise that rejects',
    handle: rejecting(boom),
    ends: 'settles',
    status: 'error',
    exception: 'boom',
  },
];

const observableKinds = (valueOf = itself): readonly ResultKind[] => [
  {
    result: 'an observable of several values',
    handle: observable(valueOf),
    ends: 'completes',
    status: 'unset',
  },
  {
    result: 'an observable that fails after values',
    handle: failing(boom, valueOf),
    ends: 'fails',
    status: 'error',
    exception: 'boom',
  },
  {
    result: 'a promise of an observable',
    handle: promiseOfObservable(valueOf),
    ends: 'completes',
    status: 'unset',
  },
];

const leftObservable = (valueOf = itself): ResultKind => ({
  result: 'an observable that never completes, and the client leaves',
  handle: endless(valueOf),
  ends: 'unsubscribed',
  status: 'unset',
  cancelled: true,
  clientLeaves: true,
});

const thrownKinds = (name: string, error: () => Error, status: SpanLife['status']): readonly ResultKind[] => [
  {
    result: `${name}, thrown at once`,
    handle: throwing(error),
    ends: 'throws',
    status,
    exception: error().message,
  },
  {
    result: `${name}, by a promise`,
    handle: rejecting(error),
    ends: 'settles',
    status,
    exception: error().message,
  },
];

const failingWith = (name: string, error: () => Error, status: SpanLife['status']): ResultKind => ({
  result: `${name}, by an observable after values`,
  handle: failing(error),
  ends: 'fails',
  status,
  exception: error().message,
});

export interface HttpResultKind extends ResultKind {
  readonly route?: 'sse';
  readonly takesResponse?: { readonly passthrough: boolean };
}

const asEvent: ValueOf = (count) => ({ data: count });

export const httpKinds: readonly HttpResultKind[] = [
  ...valueKinds,
  ...observableKinds(),
  leftObservable(),
  { result: 'an SSE stream', route: 'sse', handle: observable(asEvent), ends: 'completes', status: 'unset' },
  {
    result: 'an SSE stream that fails after values',
    route: 'sse',
    handle: failing(boom, asEvent),
    ends: 'fails',
    status: 'error',
    exception: 'boom',
  },
  { ...leftObservable(asEvent), result: 'an SSE stream, and the client leaves', route: 'sse' },
  { result: 'an async generator', handle: generator, ends: 'exhausted', status: 'unset' },
  {
    result: 'an async generator that throws after values',
    handle: failingGenerator,
    ends: 'throws',
    status: 'error',
    exception: 'boom',
  },
  {
    result: 'an async generator, and the client leaves',
    handle: endlessGenerator,
    ends: 'returned early',
    status: 'unset',
    cancelled: true,
    clientLeaves: true,
  },
  {
    result: 'a `StreamableFile`',
    handle: (timeline) => {
      const file = new StreamableFile(Readable.from([Buffer.from('first '), Buffer.from('second')]));
      timeline.note('returns');
      return file;
    },
    ends: 'returns',
    status: 'unset',
  },
  {
    result: 'a query builder or another lazy thenable',
    handle: (timeline) => {
      timeline.note('returns');
      return {
        then: (resolve: (rows: string) => void) => {
          timeline.note('settles');
          resolve('rows');
        },
      };
    },
    ends: 'settles',
    status: 'unset',
  },
  {
    result: 'nothing: the response is sent by hand, later',
    takesResponse: { passthrough: false },
    handle: (timeline, response) => {
      setTimeout(() => response.send('by hand'), 5);
      timeline.note('returns');
    },
    ends: 'returns',
    status: 'unset',
  },
  {
    result: 'a value beside a passed-through response',
    takesResponse: { passthrough: true },
    handle: (timeline, response) => {
      response.header('x-seen', 'yes');
      return value(timeline);
    },
    ends: 'returns',
    status: 'unset',
  },
  ...thrownKinds('an `HttpException` below 500', notFound, 'unset'),
  failingWith('an `HttpException` below 500', () => new ConflictException('taken'), 'unset'),
  ...thrownKinds('an `HttpException` from 500 up', () => new ServiceUnavailableException('busy'), 'error'),
];

/** Requests (`@MessagePattern`) over TCP. */
export const messageKinds: readonly ResultKind[] = [
  ...valueKinds,
  ...observableKinds(),
  ...thrownKinds('an `RpcException`', () => new RpcException('no such order'), 'error'),
  failingWith('an `RpcException`', () => new RpcException('no such order'), 'error'),
  // Nest answers it as any other error, not with its status.
  ...thrownKinds('an `HttpException`', notFound, 'error'),
];

/** Events (`@EventPattern`) over TCP: nobody waits for an answer. */
export const eventKinds: readonly ResultKind[] = [
  ...valueKinds,
  ...observableKinds(),
  ...thrownKinds('an `RpcException`', () => new RpcException('no such order'), 'error'),
];

const asMessage: ValueOf = (count) => ({ event: 'answer', data: count });

export const webSocketKinds: readonly ResultKind[] = [
  ...valueKinds,
  ...observableKinds(asMessage),
  leftObservable(asMessage),
  ...thrownKinds('a `WsException`', () => new WsException('no such order'), 'error'),
  failingWith('a `WsException`', () => new WsException('no such order'), 'error'),
  ...thrownKinds('an `HttpException`', notFound, 'error'),
];

/** Queries, mutations and field resolvers. */
export const graphqlKinds: readonly ResultKind[] = [
  ...valueKinds,
  ...observableKinds((count) => ({ id: count })),
  ...thrownKinds('an `HttpException` below 500', notFound, 'unset'),
  ...thrownKinds('an `HttpException` from 500 up', () => new ServiceUnavailableException('busy'), 'error'),
  ...thrownKinds('a `GraphQLError`', () => new GraphQLError('no such order'), 'error'),
];

/** Subscriptions, over WebSockets; their values are strings. */
export const subscriptionKinds: readonly ResultKind[] = [
  { result: 'an async generator', handle: generator, ends: 'exhausted', status: 'unset' },
  {
    result: 'a promise of an async generator',
    handle: async (timeline) => {
      await turn();
      return generator(timeline);
    },
    ends: 'exhausted',
    status: 'unset',
  },
  {
    result: 'an async generator that throws after values',
    handle: failingGenerator,
    ends: 'throws',
    status: 'error',
    exception: 'boom',
  },
  {
    result: 'an async generator, and the client leaves',
    handle: endlessGenerator,
    ends: 'returned early',
    status: 'unset',
    cancelled: true,
    clientLeaves: true,
  },
  {
    result: 'the iterator of a publisher',
    handle: (timeline) => {
      timeline.mark();
      timeline.note('returns');
      return new Subscription(timeline);
    },
    ends: 'returns',
    status: 'unset',
  },
  {
    result: 'an error that is thrown at once',
    handle: throwing(boom),
    ends: 'throws',
    status: 'error',
    exception: 'boom',
  },
  {
    result: 'a promise that rejects',
    handle: rejecting(boom),
    ends: 'settles',
    status: 'error',
    exception: 'boom',
  },
  {
    result: 'an `HttpException` below 500, thrown at once',
    handle: throwing(notFound),
    ends: 'throws',
    status: 'unset',
    exception: 'not here',
  },
];

/** Jobs and listeners, whom nobody asks for an answer. */
export const jobKinds: readonly ResultKind[] = [
  ...valueKinds,
  {
    result: 'an observable that nobody subscribes',
    handle: (timeline) => {
      setImmediate(() => timeline.note('next macrotask'));
      return observable()(timeline);
    },
    ends: 'next macrotask',
    status: 'unset',
  },
];
