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

/** Fastify's reply has Node's response in `raw`; Express's is the response itself. */
interface ResponseLike extends RawResponse {
  readonly raw?: RawResponse;
}

interface RawResponse extends EventEmitter {
  readonly destroyed?: boolean;
}

/** Makes the controller of one `forRoot` with the route that previews the cost of groups. */
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
    // These headers keep proxies and compression from holding events back.
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
      // The preview ends with its client, who may have left while a guard ran.
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
