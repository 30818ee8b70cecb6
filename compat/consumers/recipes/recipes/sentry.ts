// #region sentry
import * as Sentry from '@sentry/node';

Sentry.init({
  dsn: process.env.SENTRY_DSN,
  tracesSampleRate: 1,
  enableOpenTelemetrySetup: true, // from version 11 on; before, it is the default
});
// #endregion
