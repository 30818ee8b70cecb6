import {
  BadRequestException,
  Body,
  ConflictException,
  Controller,
  Delete,
  Get,
  Header,
  Inject,
  Put,
  Query,
  Req,
  type Type,
  UnsupportedMediaTypeException,
  UseGuards,
  VERSION_NEUTRAL,
} from '@nestjs/common';
import type { NestLensError } from '../../core/diagnostics/errors.js';
import type { ReadIntrospection } from './introspection-options.js';
import type { LensReport } from './lens-report.js';
import { SPAN_REGISTRY_SERVICE, type SpanRegistryService } from './span-registry.service.js';

interface RequestLike {
  readonly headers?: Readonly<Record<string, unknown>>;
}

const DEFAULT_TTL_SECONDS = 900;
const MAX_TTL_SECONDS = 86_400;
/** Warnings quote it. */
const MAX_SPEC_CHARACTERS = 1_000;

/** Swagger's mark of a controller that is left out of its document; written out, since it may not be installed. */
const EXCLUDE_FROM_SWAGGER = 'swagger/apiExcludeController';

/** Makes the controller of one `forRoot`, whose path and guards are metadata of the class. */
export function createLensController({ path, guards, runtimeControl }: ReadIntrospection): Type<object> {
  class LensController {
    constructor(@Inject(SPAN_REGISTRY_SERVICE) readonly spanRegistry: SpanRegistryService) {}

    @Get('groups')
    @Header('Cache-Control', 'no-store')
    list(@Query('sites') sites?: string): LensReport {
      return this.spanRegistry.describe({ sites: sites === '1' });
    }
  }

  class ControllingLensController extends LensController {
    @Put('groups')
    @Header('Cache-Control', 'no-store')
    override(@Body() body: unknown, @Req() request: RequestLike): LensReport {
      const contentType = request.headers?.['content-type'];
      // A form can't be sent as JSON, so another site's page can't make a browser do this.
      if (typeof contentType !== 'string' || !/^application\/json\s*(;|$)/i.test(contentType)) {
        throw new UnsupportedMediaTypeException('Send the override as application/json.');
      }
      const { spec, ttlSeconds } = parseOverride(body);
      return this.change(() => this.spanRegistry.override(spec, { ttlMs: ttlSeconds * 1000 }));
    }

    @Delete('groups')
    @Header('Cache-Control', 'no-store')
    clear(): LensReport {
      return this.change(() => this.spanRegistry.clearOverride());
    }

    private change(apply: () => void): LensReport {
      if (!this.spanRegistry.describe().telemetry.enabled) {
        throw new ConflictException(
          'Telemetry is disabled in this process, so its span groups cannot be changed.',
        );
      }
      try {
        apply();
      } catch (error) {
        if ((error as Partial<NestLensError>).code !== 'PINNED') throw error;
        throw new ConflictException((error as NestLensError).message);
      }
      return this.spanRegistry.describe();
    }
  }

  const Class = runtimeControl ? ControllingLensController : LensController;
  Controller({ path, version: VERSION_NEUTRAL })(Class);
  if (guards.length > 0) UseGuards(...guards)(Class);
  Reflect.defineMetadata(EXCLUDE_FROM_SWAGGER, [true], Class);
  return Class;
}

function parseOverride(body: unknown): { spec: string; ttlSeconds: number } {
  const { spec, ttlSeconds = DEFAULT_TTL_SECONDS } = (body ?? {}) as { spec?: unknown; ttlSeconds?: unknown };
  if (typeof spec !== 'string' || spec.length > MAX_SPEC_CHARACTERS) {
    throw new BadRequestException(
      `spec must be a string of at most ${MAX_SPEC_CHARACTERS} characters, for example { "spec": "per_request" }.`,
    );
  }
  if (typeof ttlSeconds !== 'number' || !(ttlSeconds > 0 && ttlSeconds <= MAX_TTL_SECONDS)) {
    throw new BadRequestException(`ttlSeconds must be a number above 0 and at most ${MAX_TTL_SECONDS}.`);
  }
  return { spec, ttlSeconds };
}
