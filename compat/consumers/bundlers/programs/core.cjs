const { managedSpan, nestLensConfigFromEnv, setupTelemetry } = require('nest-lens/core');

const config = { ...nestLensConfigFromEnv(), enabled: true, exporter: 'none', metricsEnabled: false };
setupTelemetry(config).then(
  (handle) => handle.shutdown().then(() => console.log(handle.mode)),
  (error) => console.log(error.code ?? error),
);
console.log(managedSpan('orders', 'work', () => 'work'));
