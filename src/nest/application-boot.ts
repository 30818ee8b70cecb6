import type { OnModuleInit } from '@nestjs/common';
import type { ApplicationConfig } from '@nestjs/core';
import { createError, NestLensError } from '../core/diagnostics/errors.js';
import { type Endpoint, isSameIntrospection } from './introspection/introspection-options.js';
import type { LensApp } from './lens-app.js';

/** Runs the steps of an application's boot that make no providers. Each `forRoot` has one. */
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

  /** An application without HTTP has no routes, but wiring mistakes stop its start all the same. */
  onModuleInit(): void {
    this.keepOneEndpoint();
  }

  /**
   * Also called before Nest maps routes. An application has one endpoint: that of the first `forRoot` with the option
   * `introspection`. The controllers of the other `forRoot`s are removed from this application's modules, but not from the
   * dynamic modules, which another application may import.
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
