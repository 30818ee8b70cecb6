import { Readable } from 'node:stream';
import {
  ConflictException,
  Controller,
  Get,
  NotFoundException,
  Sse,
  StreamableFile,
  type Type,
} from '@nestjs/common';
import { SpanStatusCode } from '@opentelemetry/api';
import { concat, EMPTY, interval, of, throwError } from 'rxjs';
import { take } from 'rxjs/operators';

const { UNSET, ERROR } = SpanStatusCode;

export interface Outcome {
  status: SpanStatusCode;
  /** Of the recorded exception and of the status; absent: no exception event may be there with an unset status. */
  message?: string;
}

export interface HandlerKind {
  title: string;
  controller(mark: MethodDecorator): Type<unknown>;
  outcome: Outcome;
}

export const succeeds: Outcome = { status: UNSET };
export const refused: Outcome = { status: UNSET };
export const fails = (message: string): Outcome => ({ status: ERROR, message });

/** A handler without parameters, for the kinds that only differ in what they return or throw. */
export function returning(result: () => unknown): HandlerKind['controller'] {
  return (mark) => {
    @Controller('orders')
    class OrdersController {
      @Get()
      @mark
      handle(): unknown {
        return result();
      }
    }
    return OrdersController;
  };
}

export function streaming(result: () => unknown): HandlerKind['controller'] {
  return (mark) => {
    @Controller('orders')
    class OrdersController {
      @Sse()
      @mark
      handle(): any {
        return result();
      }
    }
    return OrdersController;
  };
}

export const boom = (message: string): never => {
  throw new Error(message);
};

export const later = <T>(value: T): Promise<T> => new Promise((resolve) => setImmediate(resolve, value));

export class LazyThenable {
  calls = 0;

  constructor(
    private readonly settle: (resolve: (value: unknown) => void, reject: (reason: unknown) => void) => void,
  ) {}

  then(resolve: (value: unknown) => void, reject: (reason: unknown) => void): void {
    this.calls += 1;
    this.settle(resolve, reject);
  }
}

const chunks = (...parts: string[]): Readable => Readable.from(parts.map((part) => Buffer.from(part)));

/** What handlers give and how they fail, by kind of result. */
export const HANDLER_RESULTS: readonly HandlerKind[] = [
  { title: 'a plain value', controller: returning(() => ({ id: 7 })), outcome: succeeds },
  { title: 'nothing', controller: returning(() => undefined), outcome: succeeds },
  { title: 'null', controller: returning(() => null), outcome: succeeds },
  { title: 'an error thrown at once', controller: returning(() => boom('before')), outcome: fails('before') },

  { title: 'a promise', controller: returning(() => later({ id: 7 })), outcome: succeeds },
  {
    title: 'an error thrown before the promise is made',
    controller: returning(() => (Date.now() > 0 ? boom('before') : later(1))),
    outcome: fails('before'),
  },
  {
    title: 'a promise that rejects later',
    controller: returning(() => later(1).then(() => boom('during'))),
    outcome: fails('during'),
  },
  {
    title: 'a promise that rejects with a 409',
    controller: returning(() => later(1).then(() => Promise.reject(new ConflictException('taken')))),
    outcome: refused,
  },

  { title: 'an observable of several values', controller: returning(() => of(1, 2, 3)), outcome: succeeds },
  {
    title: 'an observable of values over time',
    controller: returning(() => interval(2).pipe(take(3))),
    outcome: succeeds,
  },
  {
    title: 'an observable of no values',
    controller: returning(() => EMPTY),
    outcome: succeeds,
  },
  {
    title: 'an error thrown before the observable is made',
    controller: returning(() => (Date.now() > 0 ? boom('before') : of(1))),
    outcome: fails('before'),
  },
  {
    title: 'an observable that errors at once',
    controller: returning(() => throwError(() => new Error('during'))),
    outcome: fails('during'),
  },
  {
    title: 'an observable that errors with a 404',
    controller: returning(() => throwError(() => new NotFoundException('gone'))),
    outcome: refused,
  },
  {
    title: 'an observable that errors after values',
    controller: returning(() =>
      concat(
        of(1),
        of(2),
        throwError(() => new Error('late')),
      ),
    ),
    outcome: fails('late'),
  },
  { title: 'a promise of an observable', controller: returning(() => later(of(1, 2))), outcome: succeeds },
  {
    title: 'a promise of an observable that errors after values',
    controller: returning(() =>
      later(
        concat(
          of(1),
          throwError(() => new Error('late')),
        ),
      ),
    ),
    outcome: fails('late'),
  },

  {
    title: 'an async generator',
    controller: returning(async function* () {
      yield 'a';
      yield await later('b');
    }),
    outcome: succeeds,
  },
  {
    title: 'an async generator that throws before its first value',
    controller: returning(async function* () {
      await later(1);
      if (Date.now() > 0) boom('before');
      yield 'a';
    }),
    outcome: fails('before'),
  },
  {
    title: 'an async generator that throws after values',
    controller: returning(async function* () {
      yield 'a';
      await later(1);
      boom('late');
    }),
    outcome: fails('late'),
  },

  {
    title: 'a lazy thenable that resolves',
    controller: returning(() => new LazyThenable((resolve) => resolve({ id: 7 }))),
    outcome: succeeds,
  },
  {
    title: 'a lazy thenable that rejects',
    controller: returning(() => new LazyThenable((_resolve, reject) => reject(new Error('query')))),
    outcome: fails('query'),
  },

  {
    title: 'a StreamableFile',
    controller: returning(() => new StreamableFile(chunks('first ', 'second'))),
    outcome: succeeds,
  },
  {
    title: 'a promise of a StreamableFile',
    controller: returning(() => later(new StreamableFile(chunks('first ', 'second')))),
    outcome: succeeds,
  },
  {
    title: 'an error thrown before the StreamableFile is made',
    controller: returning(() => (Date.now() > 0 ? boom('before') : new StreamableFile(chunks('x')))),
    outcome: fails('before'),
  },
  {
    title: 'a StreamableFile whose source breaks after the first chunk',
    controller: returning(
      () =>
        new StreamableFile(
          Readable.from(
            (async function* () {
              yield Buffer.from('first ');
              await later(1);
              boom('disk');
            })(),
          ),
        ),
    ),
    outcome: succeeds,
  },
];
