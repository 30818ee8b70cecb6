import {
  applyDecorators,
  BadRequestException,
  Body,
  type CanActivate,
  ConflictException,
  Controller,
  Delete,
  Get,
  Header,
  HttpCode,
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
import { type LensReport, SPAN_REGISTRY_SERVICE, type SpanRegistryService } from './span-registry.service.js';

const DEFAULT_TTL_SECONDS = 900;
const MAX_TTL_SECONDS = 86_400;
/** Warnings quote it. */
const MAX_SPEC_CHARACTERS = 1_000;

/** What a controller of one `forRoot` is like. */
export interface LensControllerOptions {
  readonly path: string;
  readonly guards: readonly Type<CanActivate>[];
  readonly runtimeControl: boolean;
}

/** The controller of one `forRoot`, without routes until {@link mapLensRoutes} gives it some. */
export type LensControllerClass = Type<object>;

/** Swagger's mark of a controller that is left out of its document; written out, since it may not be installed. */
const EXCLUDE_FROM_SWAGGER = 'swagger/apiExcludeController';

/**
 * Makes the controller of one `forRoot`. Each gets a class of its own, since guards and paths are metadata of the class.
 * Its methods aren't routes yet: only the first `forRoot` of an application gets them, and which that is shows when the
 * application is built. Routes of a second one would clash on Fastify.
 */
export function createLensController({ path, guards }: LensControllerOptions): LensControllerClass {
  class LensController {
    constructor(private readonly spanRegistry: SpanRegistryService) {}

    list(sites?: string): LensReport {
      return this.spanRegistry.describe({ sites: sites === '1' });
    }

    override(body: unknown, request: { headers?: Record<string, unknown> }): LensReport {
      const contentType = request.headers?.['content-type'];
      // A form can't be sent as JSON, so another site's page can't make a browser do this.
      if (typeof contentType !== 'string' || !/^application\/json\s*(;|$)/i.test(contentType)) {
        throw new UnsupportedMediaTypeException('Send the override as application/json.');
      }
      const { spec, ttlSeconds } = parseOverride(body);
      return this.change(() => this.spanRegistry.override(spec, { ttlMs: ttlSeconds * 1000 }));
    }

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
  Inject(SPAN_REGISTRY_SERVICE)(LensController, undefined, 0);
  Controller({ path, version: VERSION_NEUTRAL })(LensController);
  Reflect.defineMetadata(EXCLUDE_FROM_SWAGGER, [true], LensController);
  if (guards.length > 0) UseGuards(...guards)(LensController);
  return LensController;
}

/** Gives a controller its routes. Nest reads them when the application is initialised, after providers are made. */
export function mapLensRoutes(
  LensController: LensControllerClass,
  { runtimeControl }: LensControllerOptions,
): void {
  const decorate = (
    name: string,
    ...decorators: (ClassDecorator | MethodDecorator | PropertyDecorator)[]
  ): void => {
    const prototype = LensController.prototype as object;
    applyDecorators(...decorators, Header('Cache-Control', 'no-store'))(
      prototype,
      name,
      Object.getOwnPropertyDescriptor(prototype, name),
    );
  };
  Query('sites')(LensController.prototype as object, 'list', 0);
  decorate('list', Get('groups'));
  if (!runtimeControl) return;
  Body()(LensController.prototype as object, 'override', 0);
  Req()(LensController.prototype as object, 'override', 1);
  decorate('override', Put('groups'), HttpCode(200));
  decorate('clear', Delete('groups'), HttpCode(200));
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
