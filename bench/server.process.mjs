/** A server with a route for each variant. Says where it listens, then answers how much its requests took between two messages. */
import { argv } from 'node:process';
import { createNestApp } from './nest-app.mjs';
import { startSdk } from './telemetry.mjs';

const { workspace, adapter, peers, instrumented } = JSON.parse(argv[2]);
const { load } = await import(`./workspaces/${workspace}/load.mjs`);
await startSdk(load);
if (instrumented) {
  const { NestInstrumentation } = await load('@opentelemetry/instrumentation-nestjs-core');
  const { registerInstrumentations } = await load('@opentelemetry/instrumentation');
  registerInstrumentations({ instrumentations: [new NestInstrumentation()] });
}
const { app, lens } = await createNestApp(load, { adapter, sdk: true, peers });
lens.setSpanGroupSpec('on,off'); // the parent warms it up like this
await app.listen(0, '127.0.0.1');

let start;
const answers = {
  'all on': () => lens.setSpanGroupSpec('on,off'),
  'some off': () => lens.setSpanGroupSpec('on'),
  start: () => {
    globalThis.gc();
    start = { bytes: process.memoryUsage().heapUsed, cpu: process.cpuUsage() };
  },
  stop: () => {
    const { user, system } = process.cpuUsage(start.cpu);
    return { bytes: process.memoryUsage().heapUsed - start.bytes, cpuUs: user + system };
  },
};
process.on('message', (name) => process.send(answers[name]() ?? {}));
process.on('disconnect', () => process.exit());
process.send({ url: await app.getUrl() });
