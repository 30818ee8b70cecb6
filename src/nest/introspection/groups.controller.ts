import { Get, Header, Inject, NotFoundException, Param, Query, Res, type Type } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { normaliseName } from '../../core/groups/span-group-spec.js';
import { answerDirectly, type ResponseLike } from './direct-answer.js';
import { reportGroup, reportUnknownGroup, type SpanGroupReport } from './group-report.js';
import type { ReadIntrospection } from './introspection-options.js';
import type { LensReport } from './lens-report.js';
import { mountController } from './mount-controller.js';
import { SPAN_REGISTRY_SERVICE, type SpanRegistryService } from './span-registry.service.js';

/** Makes the controller of one `forRoot` with the routes that show the groups. */
export function createGroupsController({ path, guards }: ReadIntrospection): Type<object> {
  class LensGroupsController {
    constructor(
      @Inject(SPAN_REGISTRY_SERVICE) readonly spanRegistry: SpanRegistryService,
      @Inject(HttpAdapterHost) readonly http: HttpAdapterHost,
    ) {}

    @Get('groups')
    @Header('Cache-Control', 'no-store')
    list(@Res() response: ResponseLike, @Query('sites') sites?: string): Promise<LensReport> {
      return answerDirectly(this.http, response, this.spanRegistry.describe({ sites: sites === '1' }));
    }

    @Get('groups/:name')
    @Header('Cache-Control', 'no-store')
    one(@Res() response: ResponseLike, @Param('name') given: string): Promise<SpanGroupReport> {
      const name = normaliseName(given);
      const report = this.spanRegistry.describe({ sites: true });
      const group = reportGroup(report, name);
      if (group === undefined) throw new NotFoundException(reportUnknownGroup(report, name));
      return answerDirectly(this.http, response, group);
    }
  }
  return mountController(LensGroupsController, path, guards);
}
