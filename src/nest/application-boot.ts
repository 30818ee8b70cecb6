import type { ApplicationConfig } from '@nestjs/core';
import type { LensApp } from './lens-app.js';

/** What the boot of an application does besides making providers. Nest maps routes when it is done. */
export class ApplicationBoot {
  constructor(app: LensApp, config: ApplicationConfig) {
    app.sites.gateInherited();
    app.publishRoutes(config);
  }
}
