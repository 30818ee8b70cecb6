// An application with an SDK of its own, whose instrumentations have served a request before NestLens comes; NestLens is shut down,
// and set up again. Prints one line of JSON: the spans of a request in each of these states.
const { registerInstrumentations } = require('@opentelemetry/instrumentation');
const { NodeTracerProvider } = require('@opentelemetry/sdk-node').node;
const { complaints, keeping, takeSpans, countOpen } = require('./kept-spans.cjs');
const { makeInstrumentations, startShop } = require('./instrumented-shop.cjs');

const { pgPort, redisPort, headers } = JSON.parse(process.argv[2]);

async function main() {
  new NodeTracerProvider({ spanProcessors: [keeping] }).register();
  const instrumentations = makeInstrumentations();
  registerInstrumentations({ instrumentations });
  const shop = await startShop({ instrumentations, pgPort, redisPort });
  const states = {};
  const ask = async (state) => {
    await shop.ask('/orders/1', { headers });
    states[state] = await takeSpans();
  };
  await ask('the first request');
  await ask('before');

  // Its own copy of the package, and another one that the application may have as well.
  const lens = require('nest-lens/core');
  const other = await import('nest-lens/core');
  lens.SpanRegistry.register('shop', ['orders', 'own']);
  const attach = (spanGroups, { setupTelemetry, nestLensConfigFromEnv }) =>
    setupTelemetry(
      { ...nestLensConfigFromEnv({ env: {} }), enabled: true, spanGroups, metricsEnabled: false },
      { instrumentationGroups: true },
    );
  const first = await attach('all,-orders,-own', lens);
  await ask('all on');
  const refused = await attach('all', other).then(
    () => 'both were set up',
    (error) => error.code,
  );
  other.setSpanGroupSpec('all,-orders,-own,-pg');
  await ask('pg off, by the other copy');
  lens.overrideSpanGroups('http_server,redis');
  await ask('an override');
  lens.clearSpanGroupOverride();
  await ask('the override cleared');
  await first.shutdown();
  await ask('after the shutdown');
  const groupsLeft = [...lens.SpanRegistry.groups()];
  const second = await attach('http_server', other);
  await ask('set up again, by the other copy');
  await second.shutdown();
  await ask('at the end');
  await shop.close();
  console.log(
    JSON.stringify({ states, refused, groupsLeft, mode: second.mode, open: countOpen(), complaints }),
  );
}

main().catch((error) => {
  console.error(error);
  process.exit(1);
});
