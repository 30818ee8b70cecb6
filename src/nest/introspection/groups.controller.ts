import { Get, Header, Inject, NotFoundException, Param, Query, type Type } from '@nestjs/common';
import { normaliseName } from '../../core/groups/span-group-spec.js';
import { reportGroup, reportUnknownGroup, type SpanGroupReport } from './group-report.js';
import type { ReadIntrospection } from './introspection-options.js';
import type { LensReport } from './lens-report.js';
import { mountController } from './mount-controller.js';
import { SPAN_REGISTRY_SERVICE, type SpanRegistryService } from './span-registry.service.js';

/** Makes the controller of one `forRoot` with the routes that show the groups. */
export function createGroupsController({ path, guards }: ReadIntrospection): Type<object> {
  class LensGroupsController {
    constructor(@Inject(SPAN_REGISTRY_SERVICE) readonly spanRegistry: SpanRegistryService) {}

    @Get('groups')
    @Header('Cache-Control', 'no-store')
    list(@Query('sites') sites?: string): LensReport {
      return this.spanRegistry.describe({ sites: sites === '1' });
    }

    @Get('groups/:name')
    @Header('Cache-Control', 'no-store')
    one(@Param('name') given: string): SpanGroupReport {
      const name = normaliseName(given);
      const report = this.spanRegistry.describe({ sites: true });
      const group = reportGroup(report, name);
      if (group === undefined) throw new NotFoundException(reportUnknownGroup(report, name));
      return group;
    }
  }
  return mountController(LensGroupsController, path, guards);
}
