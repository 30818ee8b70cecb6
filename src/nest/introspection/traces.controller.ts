import { Get, Header, Inject, NotFoundException, Param, Res, type Type } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import {
  listRecentTraces,
  recentTrace,
  type RecentSpan,
  type RecentTraceSummary,
} from '../../core/traces/recent-trace-report.js';
import { answerDirectly, type ResponseLike } from './direct-answer.js';
import type { ReadIntrospection } from './introspection-options.js';
import { mountController } from './mount-controller.js';

/** Makes the controller of one `forRoot` with the routes that show the last traces of the process. */
export function createTracesController({ path, guards }: ReadIntrospection): Type<object> {
  class LensTracesController {
    constructor(@Inject(HttpAdapterHost) readonly http: HttpAdapterHost) {}

    @Get('traces')
    @Header('Cache-Control', 'no-store')
    list(@Res() response: ResponseLike): Promise<{ traces: RecentTraceSummary[] }> {
      return answerDirectly(this.http, response, { traces: listRecentTraces() });
    }

    @Get('traces/:traceId')
    @Header('Cache-Control', 'no-store')
    one(
      @Res() response: ResponseLike,
      @Param('traceId') traceId: string,
    ): Promise<{ traceId: string; spans: RecentSpan[] }> {
      const found = recentTrace(traceId.toLowerCase());
      if (found !== undefined) return answerDirectly(this.http, response, found);
      throw new NotFoundException(
        'That trace is not kept: it has not finished, or newer ones have taken its place.',
      );
    }
  }
  return mountController(LensTracesController, path, guards);
}
