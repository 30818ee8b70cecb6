// #region span-group-interceptor
import { Controller, Get, Param, ParseIntPipe, UseInterceptors } from '@nestjs/common';
import { SpanGroup, SpanGroupInterceptor } from 'nest-lens';

@UseInterceptors(SpanGroupInterceptor) // on a controller or on one handler
@SpanGroup('reports')
@Controller('reports')
export class ReportsController {
  @Get(':year')
  ofYear(@Param('year', ParseIntPipe) year: number) {
    return { year };
  }
}
// #endregion
