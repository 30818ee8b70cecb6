import { HttpException, NotFoundException, ServiceUnavailableException } from '@nestjs/common';
import { SpanStatusCode } from '@opentelemetry/api';
import { fails, type HandlerKind, later, refused, returning } from './handler-results.js';

const { ERROR } = SpanStatusCode;

/** Same name, same methods, same fields: but Nest doesn't know it and answers 500. */
class LookalikeException extends Error {
  override readonly name = 'HttpException';
  readonly status = 404;
  readonly response = { statusCode: 404, message: 'not here' };

  getStatus(): number {
    return this.status;
  }

  getResponse(): object {
    return this.response;
  }
}

class TeapotException extends HttpException {
  constructor() {
    super('short and stout', 418);
  }
}

/** What handlers throw: answers below 500, errors, and what is no error at all. */
export const HANDLER_ERRORS: readonly HandlerKind[] = [
  { title: 'a 404', controller: returning(() => Promise.reject(new NotFoundException())), outcome: refused },
  {
    title: 'a subclass of HttpException with 418',
    controller: returning(() => {
      throw new TeapotException();
    }),
    outcome: refused,
  },
  {
    title: 'an HttpException with 499',
    controller: returning(() => {
      throw new HttpException('client closed request', 499);
    }),
    outcome: refused,
  },
  {
    title: 'an HttpException with 500',
    controller: returning(() => {
      throw new HttpException('down', 500);
    }),
    outcome: fails('down'),
  },
  {
    title: 'a 503',
    controller: returning(() => later(1).then(() => Promise.reject(new ServiceUnavailableException('busy')))),
    outcome: fails('busy'),
  },
  {
    title: 'what only looks like an HttpException',
    controller: returning(() => {
      throw new LookalikeException('not here');
    }),
    outcome: fails('not here'),
  },
  {
    title: 'an HTTP client error with a status of 404',
    controller: returning(() => {
      throw Object.assign(new Error('upstream said no'), { status: 404, response: { status: 404 } });
    }),
    outcome: fails('upstream said no'),
  },
  {
    title: 'a thrown string',
    controller: returning(() => {
      throw 'just words';
    }),
    outcome: { status: ERROR },
  },
  {
    title: 'a thrown null',
    controller: returning(() => {
      throw null;
    }),
    outcome: { status: ERROR },
  },
  {
    title: 'a thrown error whose message cannot be read',
    controller: returning(() => {
      throw Object.defineProperty(new Error(), 'message', {
        get() {
          throw new Error('hands off');
        },
      });
    }),
    outcome: { status: ERROR },
  },
];
