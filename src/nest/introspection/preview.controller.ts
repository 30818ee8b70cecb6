import { Body, Header, HttpCode, Inject, Post, Req, Res, type Type } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { answerDirectly, rawResponse, type ResponseLike, streamDirectly } from './direct-answer.js';
import type { ReadIntrospection } from './introspection-options.js';
import type { RequestLike } from './json-body.js';
import { mountController } from './mount-controller.js';
import { readPreviewBody } from './preview-body.js';
import type { PreviewReport } from './preview-report.js';
import { streamPreview } from './preview-stream.js';
import { PREVIEWS, type Previews } from './previews.js';
import { requireTelemetry } from './require-telemetry.js';
import type { ReadRuntimeControl } from './runtime-control-options.js';

/** Makes the controller of one `forRoot` with the route that previews the cost of groups. */
export function createPreviewController(
  { path, guards }: ReadIntrospection,
  control: ReadRuntimeControl,
): Type<object> {
  class LensPreviewController {
    constructor(
      @Inject(PREVIEWS) readonly previews: Previews,
      @Inject(HttpAdapterHost) readonly http: HttpAdapterHost,
    ) {}

    @Post('groups/preview')
    @HttpCode(200)
    // These headers keep proxies and compression from holding events back.
    @Header('Cache-Control', 'no-cache, no-store, no-transform')
    @Header('X-Accel-Buffering', 'no')
    async preview(
      @Body() body: unknown,
      @Req() request: RequestLike,
      @Res() response: ResponseLike,
    ): Promise<PreviewReport | undefined> {
      const asked = readPreviewBody(request, body);
      requireTelemetry();
      const run = this.previews.begin(asked);
      // The preview ends with its client, who may have left while a guard ran.
      const raw = rawResponse(response);
      raw.once('close', () => run.end());
      if (raw.destroyed) run.end();
      if (!wantsEvents(request)) return answerDirectly(this.http, response, await run.done);
      streamDirectly(response, 'text/event-stream', streamPreview(run));
      return undefined;
    }
  }
  return mountController(LensPreviewController, path, [...guards, ...control.guards]);
}

function wantsEvents({ headers = {} }: RequestLike): boolean {
  const { accept } = headers;
  return typeof accept === 'string' && /\btext\/event-stream\b/i.test(accept);
}
