import type { OnModuleInit } from '@nestjs/common';
import type { ApplicationConfig } from '@nestjs/core';
import { createError, NestLensError } from '../core/diagnostics/errors.js';
import { type Endpoint, isSameIntrospection } from './introspection/introspection-options.js';
import type { LensApp } from './lens-app.js';

/** What the boot of an application does besides making providers. Each `forRoot` has one. */
export class ApplicationBoot implements OnModuleInit {
  constructor(
    private readonly app: LensApp,
    config: ApplicationConfig,
    mark: symbol,
    endpoint: Endpoint,
  ) {
    const { hooksHaveBegun, kept, endpoints } = app.record;
    if (hooksHaveBegun) {
      if (kept === undefined) throw createError(NestLensError, 'ROOT_LOADED_LAZILY');
      requireSame(endpoint, kept);
    }
    endpoints.set(mark, endpoint);
    app.gateClasses();
    app.publishRoutes(config);
  }

  /** An application without HTTP has no routes, but the same mistakes stop its start. */
  onModuleInit(): void {
    this.keepOneEndpoint();
  }

  /**
   * Called before Nest maps routes, too. Routes belong to the application: of several `forRoot`s one has the endpoint, the first
   * that says what it is to be like. The controllers of the others leave the modules of this application; another one may
   * import the same dynamic modules.
   *
   * @throws NestLensError `INTROSPECTION_DIFFERS`
   */
  keepOneEndpoint(): void {
    const { app } = this;
    const kept = (app.record.kept ??= app.endpoints.find(({ isAsked }) => isAsked) ?? app.endpoints[0]!);
    for (const endpoint of app.endpoints) {
      requireSame(endpoint, kept);
      if (endpoint !== kept) app.removeControllers(endpoint.controllers);
    }
  }
}

function requireSame({ isAsked, introspection }: Endpoint, kept: Endpoint): void {
  if (!isAsked || isSameIntrospection(introspection, kept.introspection)) return;
  throw createError(NestLensError, 'INTROSPECTION_DIFFERS');
}
