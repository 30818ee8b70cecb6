// One process of a fleet, started by measure-fleet.mjs. It sets telemetry up with the source that it is told, says which group is
// on whenever that source has given a spec, and has nothing else to do: let go, it has to end by itself.
import {
  enabledSpanGroups,
  fileSpecSource,
  setLensLogger,
  setupTelemetry,
  SpanRegistry,
} from 'nest-lens/core';

const GROUPS = 1_000;
SpanRegistry.register(
  'fleet',
  Array.from({ length: GROUPS }, (_, number) => `g${number}`),
);

/** @type {string[]} */
const warnings = [];
setLensLogger({ warn: (_, { code }) => void (code === 'NO_TRACER_PROVIDER' || warnings.push(code)) });

/** @type {import('nest-lens/core').TelemetryHandle | undefined} */
let handle;

/**
 * @param {{ file?: string, redis?: { module: string, url: string } }} where
 * @returns {Promise<import('nest-lens/core').SpanGroupSpecSource>}
 */
async function sourceAt({ file, redis }) {
  if (redis === undefined) return fileSpecSource(String(file));
  const { redisSpecSource } = await import(redis.module);
  return redisSpecSource({ url: redis.url });
}

/** @param {{ file?: string, redis?: { module: string, url: string } }} where */
async function watch(where) {
  await handle?.shutdown();
  const source = await sourceAt(where);
  handle = await setupTelemetry(
    {
      enabled: true,
      spanGroups: '',
      exporter: 'none',
      tracesEnabled: true,
      metricsEnabled: false,
      runId: '',
      userId: '',
    },
    {
      // Without the SDK, which would take most of the time of the start.
      mode: 'attach',
      specSource: {
        name: source.name,
        watch: (onSpec, onProblem) =>
          source.watch((spec) => {
            onSpec(spec);
            report();
          }, onProblem),
      },
    },
  );
  report();
}

/** Nothing is on before the set-up is done. */
function report() {
  const on = [...enabledSpanGroups()].join();
  if (on !== '') process.send?.({ on, at: Date.now() });
}

process.on('message', (/** @type {any} */ { where }) => {
  if (where !== undefined) void watch(where);
  else process.send?.({ warnings }, () => process.disconnect());
});
