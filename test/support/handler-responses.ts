import { Controller, Get, Header, HttpCode, Redirect, Res } from '@nestjs/common';
import { concat, interval, of, throwError } from 'rxjs';
import { delay, map, take } from 'rxjs/operators';
import { boom, fails, type HandlerKind, later, streaming, succeeds } from './handler-results.js';

/** Handlers that answer in another way than by a value of theirs: by hand, with a status, with events. */
export const HANDLER_RESPONSES: readonly HandlerKind[] = [
  {
    title: 'a response sent by hand after the handler has returned',
    controller: (mark) => {
      @Controller('orders')
      class OrdersController {
        @Get()
        @mark
        handle(@Res() response: any): void {
          setTimeout(() => response.send('by hand'), 10);
        }
      }
      return OrdersController;
    },
    outcome: succeeds,
  },
  {
    title: 'an error thrown in a handler that takes the response',
    controller: (mark) => {
      @Controller('orders')
      class OrdersController {
        @Get()
        @mark
        handle(@Res() _response: any): void {
          boom('before');
        }
      }
      return OrdersController;
    },
    outcome: fails('before'),
  },
  {
    title: 'a value beside a passed-through response',
    controller: (mark) => {
      @Controller('orders')
      class OrdersController {
        @Get()
        @mark
        handle(@Res({ passthrough: true }) response: any): object {
          response.header('x-seen', 'yes');
          return { id: 7 };
        }
      }
      return OrdersController;
    },
    outcome: succeeds,
  },
  {
    title: 'a value with a status and headers of its own',
    controller: (mark) => {
      @Controller('orders')
      class OrdersController {
        @Get()
        @HttpCode(202)
        @mark
        @Header('x-seen', 'yes')
        handle(): object {
          return { id: 7 };
        }
      }
      return OrdersController;
    },
    outcome: succeeds,
  },
  {
    title: 'a redirect',
    controller: (mark) => {
      @Controller('orders')
      class OrdersController {
        @Get()
        @Redirect('/elsewhere', 302)
        @mark
        handle(): void {}
      }
      return OrdersController;
    },
    outcome: succeeds,
  },

  { title: 'events', controller: streaming(() => of({ data: 'a' }, { data: 'b' })), outcome: succeeds },
  {
    title: 'events over time',
    controller: streaming(() =>
      interval(2).pipe(
        take(3),
        map((data) => ({ data })),
      ),
    ),
    outcome: succeeds,
  },
  { title: 'a promise of events', controller: streaming(() => later(of({ data: 'a' }))), outcome: succeeds },
  {
    title: 'an error thrown before the events',
    controller: streaming(() => boom('before')),
    outcome: fails('before'),
  },
  {
    title: 'events that break after the first',
    controller: streaming(() =>
      concat(
        of({ data: 'a' }).pipe(delay(5)),
        throwError(() => new Error('late')),
      ),
    ),
    outcome: fails('late'),
  },
  {
    title: 'a promise of events that rejects',
    controller: streaming(() => later(1).then(() => boom('during'))),
    outcome: fails('during'),
  },
];
