/** Measures Nest's route handlers without a socket, all variants in one process. */
import { argv } from 'node:process';
import { measureBytes } from './allocation.mjs';
import { createNestApp } from './nest-app.mjs';
import { measureInRounds } from './rounds.mjs';
import { startSdk } from './telemetry.mjs';

const { workspace, peers, sdk, bytes, rounds, slotMs } = JSON.parse(argv[2]);
const { load } = await import(`./workspaces/${workspace}/load.mjs`);
const provider = sdk ? await startSdk(load) : undefined;
const { server, lens } = await createNestApp(load, { adapter: 'router', sdk, peers });
const without = await createNestApp(load, { adapter: 'router', withLens: false });

/** So many calls that a slot has several runs, and that a run's bytes are those of the calls. */
const callsOf = (path) => (bytes ? 500 : /interceptor|pass/.test(path) ? 20 : 100);
const next = (error) => {
  throw error;
};

function createCase(name, handler, calls) {
  const request = { method: 'GET', url: `/${name}`, headers: {}, params: {}, query: {} };
  const run = async () => {
    for (let i = 0; i < calls; i++) await handler(request, { status: 200 }, next);
  };
  return { name, calls, run };
}

/** A handler within the context that instrumentation-http makes for each request, where its span is told the route. */
async function belowServerSpan(handler) {
  const { context, createContextKey } = await load('@opentelemetry/api');
  const key = createContextKey('OpenTelemetry SDK Context Key RPC_METADATA');
  return (...args) =>
    context.with(context.active().setValue(key, { type: 'http' }), handler, undefined, ...args);
}

const cases = [...server.handlers]
  .filter(([path]) => /\/(now|later)$/.test(path))
  .map(([path, handler]) => createCase(path.slice(1), handler, callsOf(path)));
const plain = server.handlers.get('/plain/now');
const withoutLens = without.server.handlers.get('/plain/now');
cases.push(createCase('no-lens/now', withoutLens, callsOf('plain')));
if (sdk) {
  cases.push(createCase('served/now', await belowServerSpan(plain), callsOf('plain')));
  cases.push(createCase('served-no-lens/now', await belowServerSpan(withoutLens), callsOf('plain')));
}

// Every group that is off was on before.
const select = async (spec) => {
  lens.setSpanGroupSpec(spec);
  for (const { run } of cases) for (let i = 0; i < 20; i++) await run();
};
await select('on,off');
await select('on');
for (const each of cases) each.before = () => provider?.forceFlush();

process.send(
  bytes
    ? await measureBytes(cases, { runs: 5, warmupRuns: 10 })
    : await measureInRounds(cases, { rounds, slotMs }),
);
process.disconnect();
