import { NestLensModule } from 'nest-lens';
import { shop } from './shop-spans.js';

export const switchedOn = () =>
  // #region instrumentation-groups
  NestLensModule.forRoot({ registrations: [shop], instrumentationGroups: true });
// #endregion

export const renamed = () =>
  // #region renamed-instrumentation-groups
  NestLensModule.forRoot({
    instrumentationGroups: {
      names: { 'my-lib/tracing': 'my_lib', '@opentelemetry/instrumentation-dns': false },
      presets: { default: ['http_server', 'pg'] },
    },
  });
// #endregion
