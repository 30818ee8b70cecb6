import type { EventEmitter } from 'node:events';
import {
  Body,
  Header,
  HttpCode,
  Inject,
  Post,
  Req,
  Res,
  type StreamableFile,
  type Type,
} from '@nestjs/common';
import { requireTelemetry } from './control.controller.js';
import type { ReadIntrospection } from './introspection-options.js';
import type { RequestLike } from './json-body.js';
import { mountController } from './mount-controller.js';
import { readPreviewBody } from './preview-body.js';
import type { PreviewReport } from './preview-report.js';
import { streamPreview } from './preview-stream.js';
import { PREVIEWS, type Previews } from './previews.js';
import type { ReadRuntimeControl } from './runtime-control-options.js';
import { SPAN_REGISTRY_SERVICE, type SpanRegistryService } from './span-registry.service.js';

/** Fastify's reply keeps Node's response in `raw`; Express's is one. */
interface ResponseLike extends RawResponse {
  readonly raw?: RawResponse;
}

interface RawResponse extends EventEmitter {
  readonly destroyed?: boolean;
}

/** Makes the controller of one `forRoot` by which one sees what groups would cost before they are on. */
export function createPreviewController(
  { path, guards }: ReadIntrospection,
  control: ReadRuntimeControl,
): Type<object> {
  class LensPreviewController {
    constructor(
      @Inject(SPAN_REGISTRY_SERVICE) readonly spanRegistry: SpanRegistryService,
      @Inject(PREVIEWS) readonly previews: Previews,
    ) {}

    @Post('groups/preview')
    @HttpCode(200)
    // No proxy and no compression keeps the events back.
    @Header('Cache-Control', 'no-cache, no-store, no-transform')
    @Header('X-Accel-Buffering', 'no')
    preview(
      @Body() body: unknown,
      @Req() request: RequestLike,
      @Res({ passthrough: true }) response: ResponseLike,
    ): Promise<PreviewReport> | StreamableFile {
      const asked = readPreviewBody(request, body);
      requireTelemetry(this.spanRegistry.describe());
      const run = this.previews.begin(asked);
      // It ends with its client, who may have left while a guard was asked.
      const raw = response.raw ?? response;
      raw.once('close', () => run.end());
      if (raw.destroyed === true) run.end();
      return wantsEvents(request) ? streamPreview(run) : run.done;
    }
  }
  return mountController(LensPreviewController, path, [...guards, ...control.guards]);
}

function wantsEvents({ headers = {} }: RequestLike): boolean {
  const { accept } = headers;
  return typeof accept === 'string' && /\btext\/event-stream\b/i.test(accept);
}
