import { Body, ConflictException, Delete, Header, Inject, Put, Req, Res, type Type } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import type { NestLensError } from '../../core/diagnostics/errors.js';
import { clearOverrideAs, overrideAs } from '../../core/groups/span-group-override.js';
import { changeAuthor } from './change-author.js';
import { answerDirectly, type ResponseLike } from './direct-answer.js';
import type { ReadIntrospection } from './introspection-options.js';
import type { RequestLike } from './json-body.js';
import type { LensReport } from './lens-report.js';
import { mountController } from './mount-controller.js';
import { readOverrideBody } from './override-body.js';
import { requireTelemetry } from './require-telemetry.js';
import type { ReadRuntimeControl } from './runtime-control-options.js';
import { SPAN_REGISTRY_SERVICE, type SpanRegistryService } from './span-registry.service.js';

/** Makes the controller of one `forRoot` with the routes that change the spec for a while. */
export function createControlController(
  { path, guards }: ReadIntrospection,
  control: ReadRuntimeControl,
): Type<object> {
  class LensControlController {
    constructor(
      @Inject(SPAN_REGISTRY_SERVICE) readonly spanRegistry: SpanRegistryService,
      @Inject(HttpAdapterHost) readonly http: HttpAdapterHost,
    ) {}

    @Put('groups')
    @Header('Cache-Control', 'no-store')
    override(
      @Body() body: unknown,
      @Req() request: RequestLike,
      @Res() response: ResponseLike,
    ): Promise<LensReport> {
      const { spec, ttlSeconds } = readOverrideBody(request, body);
      const report = this.change(request, (by) => overrideAs(by, spec, { ttlMs: ttlSeconds * 1000 }));
      return answerDirectly(this.http, response, report);
    }

    @Delete('groups')
    @Header('Cache-Control', 'no-store')
    clear(@Req() request: RequestLike, @Res() response: ResponseLike): Promise<LensReport> {
      return answerDirectly(this.http, response, this.change(request, clearOverrideAs));
    }

    private change(request: RequestLike, apply: (by: string | null) => void): LensReport {
      requireTelemetry();
      try {
        apply(changeAuthor(control.by, request));
      } catch (error) {
        if ((error as Partial<NestLensError>).code !== 'PINNED') throw error;
        throw new ConflictException((error as NestLensError).message);
      }
      return this.spanRegistry.describe();
    }
  }
  return mountController(LensControlController, path, [...guards, ...control.guards]);
}
