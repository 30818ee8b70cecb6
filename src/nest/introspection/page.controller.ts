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
import type { PageDocument } from '../page/page-document.js';
import type { ReadIntrospection } from './introspection-options.js';
import { mountController } from './mount-controller.js';

/** Stands, in `@Catch()`, for the error with which a guard refuses a request, of any class and copy. */
class Refusal {
  static [Symbol.hasInstance](thrown: unknown): boolean {
    const status: unknown = (thrown as Partial<HttpException> | null | undefined)?.getStatus?.();
    return status === HttpStatus.UNAUTHORIZED || status === HttpStatus.FORBIDDEN;
  }
}

/**
 * Makes the controller of one `forRoot` that serves the page.
 *
 * A visitor whom the guards refuse gets the page too, with the status of the refusal. The page holds no data of the process,
 * and has the field for the token, which a browser can't send before. Its requests for data are guarded.
 */
export function createPageController(introspection: ReadIntrospection): Type<object> {
  const { path, guards } = introspection;
  const page = loadPage(introspection);

  /** Sends the answer without the application's interceptors, which may wrap every answer in an object. */
  async function answer(adapter: AbstractHttpAdapter, response: unknown, status: number): Promise<void> {
    const { html, headers } = await page;
    // An interceptor with a time limit, or a guard that redirects to a login, may have answered before.
    if (adapter.isHeadersSent(response)) return;
    for (const [name, value] of Object.entries(headers)) adapter.setHeader(response, name, value);
    adapter.reply(response, html, status);
  }

  @Catch(Refusal)
  class PageAfterRefusal implements ExceptionFilter {
    constructor(@Inject(HttpAdapterHost) private readonly http: HttpAdapterHost) {}

    catch(refusal: HttpException, host: ArgumentsHost): Promise<void> {
      const response: unknown = host.switchToHttp().getResponse();
      return answer(this.http.httpAdapter, response, refusal.getStatus());
    }
  }

  class LensPageController {
    constructor(@Inject(HttpAdapterHost) readonly http: HttpAdapterHost) {}

    @Get()
    @UseFilters(PageAfterRefusal)
    show(@Res() response: unknown): Promise<void> {
      return answer(this.http.httpAdapter, response, HttpStatus.OK);
    }
  }
  return mountController(LensPageController, path, guards);
}

/** Measured: the page is 13 files, a tenth of what `import 'nest-lens'` takes, and most applications don't serve it. */
async function loadPage({ runtimeControl, recentTraces }: ReadIntrospection): Promise<PageDocument> {
  const { createPageDocument } = await import('../page/page-document.js');
  return createPageDocument({ control: runtimeControl !== false, traces: recentTraces > 0 });
}
