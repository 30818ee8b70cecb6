// Sets telemetry up, starts the shop with every instrumentation, and sends requests through it: one for each set of groups that it
// is told, then many while the groups are flipped. Prints one line of JSON: what became of them.
const { nestLensConfigFromEnv, setSpanGroupSpec, setupTelemetry, SpanRegistry } = require('nest-lens/core');
const {
  AggregationTemporality,
  InMemoryMetricExporter,
  PeriodicExportingMetricReader,
} = require('@opentelemetry/sdk-metrics');
const { complaints, keeping, takeSpans, countOpen } = require('./kept-spans.cjs');
const { makeInstrumentations, startShop } = require('./instrumented-shop.cjs');

const { pgPort, redisPort, requests, flipped } = JSON.parse(process.argv[2]);

const metricReader = new PeriodicExportingMetricReader({
  exporter: new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE),
  exportIntervalMillis: 1_000_000,
});

/** Metric -> how many values it has, by the attribute of each point. */
async function countValues(metric, attribute) {
  const { resourceMetrics } = await metricReader.collect();
  const found = resourceMetrics.scopeMetrics
    .flatMap(({ metrics }) => metrics)
    .filter(({ descriptor }) => descriptor.name === metric);
  const counts = {};
  for (const { attributes, value } of found.flatMap(({ dataPoints }) => dataPoints)) {
    const of = attributes[attribute] ?? 'none';
    counts[of] = (counts[of] ?? 0) + (value.count ?? value);
  }
  return counts;
}

/** Many requests at a time, while other groups are on every two milliseconds. */
async function flip(shop, groups) {
  let seed = 1;
  const next = () => (seed = (seed * 48_271) % 2_147_483_647);
  let flips = 0;
  const timer = setInterval(() => {
    setSpanGroupSpec(groups.filter(() => next() % 2 === 0).join());
    flips++;
  }, 2);
  let asked = 0;
  const errors = [];
  const work = async () => {
    while (asked++ < flipped) await shop.ask('/quick').catch((error) => errors.push(String(error)));
  };
  await Promise.all(Array.from({ length: 10 }, work));
  clearInterval(timer);
  return { flips, errors, spans: await takeSpans() };
}

async function main() {
  SpanRegistry.register('shop', ['orders', 'own']);
  const instrumentations = makeInstrumentations();
  const handle = await setupTelemetry(
    { ...nestLensConfigFromEnv({ env: {} }), enabled: true, spanGroups: 'all' },
    { spanProcessors: [keeping], metricReader, instrumentations, instrumentationGroups: true },
  );
  const shop = await startShop({ instrumentations, pgPort, redisPort });
  // What is connected, and learnt, once.
  await shop.ask('/orders/1');
  await shop.ask('/fast/1');
  await takeSpans();
  const answers = [];
  for (const { spec, path, headers } of requests) {
    setSpanGroupSpec(spec);
    const answer = await shop.ask(path, { headers });
    answers.push({ ...answer, spans: await takeSpans() });
  }
  const metrics = {
    served: await countValues('http.server.request.duration', 'http.route'),
    asked: await countValues('http.client.request.duration', 'server.address'),
    queries: await countValues('db.client.operation.duration', 'db.system.name'),
    counted: await countValues('nestlens.spans', 'nestlens.group'),
  };
  const groups = [...SpanRegistry.groups()].sort();
  const presets = Object.fromEntries(
    [...SpanRegistry.presets()].map(([name, members]) => [name, [...members].sort()]),
  );
  const underLoad = await flip(shop, groups);
  await shop.close();
  await handle.shutdown();
  console.log(
    JSON.stringify({ answers, groups, presets, metrics, underLoad, open: countOpen(), complaints }),
  );
}

main().catch((error) => {
  console.error(error);
  process.exit(1);
});
