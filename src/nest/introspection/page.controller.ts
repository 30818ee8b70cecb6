import {
  type ArgumentsHost,
  Catch,
  type ExceptionFilter,
  Get,
  type HttpException,
  HttpStatus,
  Inject,
  Res,
  type Type,
  UseFilters,
} from '@nestjs/common';
import { type AbstractHttpAdapter, HttpAdapterHost } from '@nestjs/core';
import { createPageDocument } from '../page/page-document.js';
import type { ReadIntrospection } from './introspection-options.js';
import { mountController } from './mount-controller.js';

/** Stands, in `@Catch()`, for what a guard throws to refuse somebody, of whatever class and copy it is. */
class Refusal {
  static [Symbol.hasInstance](thrown: unknown): boolean {
    const status: unknown = (thrown as Partial<HttpException> | null | undefined)?.getStatus?.();
    return status === HttpStatus.UNAUTHORIZED || status === HttpStatus.FORBIDDEN;
  }
}

/**
 * Makes the controller of one `forRoot` that serves the page.
 *
 * Whom the guards refuse gets the page too, with the status of the refusal: it holds nothing of the process, and has the field for
 * the token that a browser could not send before. What it then asks for is guarded.
 */
export function createPageController({
  path,
  guards,
  runtimeControl,
  recentTraces,
}: ReadIntrospection): Type<object> {
  const { html, headers } = createPageDocument({
    control: runtimeControl !== false,
    traces: recentTraces > 0,
  });

  /** Past the interceptors of the application, which may wrap every answer in an object. */
  function answer(adapter: AbstractHttpAdapter, response: unknown, status: number): void {
    for (const [name, value] of Object.entries(headers)) adapter.setHeader(response, name, value);
    adapter.reply(response, html, status);
  }

  @Catch(Refusal)
  class PageAfterRefusal implements ExceptionFilter {
    constructor(@Inject(HttpAdapterHost) private readonly http: HttpAdapterHost) {}

    catch(refusal: HttpException, host: ArgumentsHost): void {
      const response: unknown = host.switchToHttp().getResponse();
      const { httpAdapter } = this.http;
      // A guard may have answered by itself, with a redirect to a login.
      if (!httpAdapter.isHeadersSent(response)) answer(httpAdapter, response, refusal.getStatus());
    }
  }

  class LensPageController {
    constructor(@Inject(HttpAdapterHost) readonly http: HttpAdapterHost) {}

    @Get()
    @UseFilters(PageAfterRefusal)
    show(@Res() response: unknown): void {
      answer(this.http.httpAdapter, response, HttpStatus.OK);
    }
  }
  return mountController(LensPageController, path, guards);
}
