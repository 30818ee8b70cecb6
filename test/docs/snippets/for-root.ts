import { shop } from './shop-spans.js';

// #region for-root
import { Module } from '@nestjs/common';
import { ConsoleSpanExporter } from '@opentelemetry/sdk-trace-base';
import { NestLensModule } from 'nest-lens';

@Module({
  imports: [
    NestLensModule.forRoot({
      registrations: [shop],
      config: { serviceName: 'shop', metricsEnabled: false },
      telemetry: { spanExporter: new ConsoleSpanExporter() },
      shutdownTimeoutMs: 2_000,
      introspection: { path: 'internal' }, // GET /internal/groups
    }),
  ],
})
export class AppModule {}
// #endregion
