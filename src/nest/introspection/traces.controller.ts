import { Get, Header, NotFoundException, Param, type Type } from '@nestjs/common';
import {
  listRecentTraces,
  recentTrace,
  type RecentSpan,
  type RecentTraceSummary,
} from '../../core/traces/recent-trace-report.js';
import type { ReadIntrospection } from './introspection-options.js';
import { mountController } from './mount-controller.js';

/** Makes the controller of one `forRoot` with the routes that show the last traces of the process. */
export function createTracesController({ path, guards }: ReadIntrospection): Type<object> {
  class LensTracesController {
    @Get('traces')
    @Header('Cache-Control', 'no-store')
    list(): { traces: RecentTraceSummary[] } {
      return { traces: listRecentTraces() };
    }

    @Get('traces/:traceId')
    @Header('Cache-Control', 'no-store')
    one(@Param('traceId') traceId: string): { traceId: string; spans: RecentSpan[] } {
      const found = recentTrace(traceId.toLowerCase());
      if (found !== undefined) return found;
      throw new NotFoundException(
        'That trace is not kept: it has not finished, or newer ones have taken its place.',
      );
    }
  }
  return mountController(LensTracesController, path, guards);
}
