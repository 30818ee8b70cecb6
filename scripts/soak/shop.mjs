// The sample shop, started by scripts/soak.mjs as a process of its own: exports to SOAK_COLLECTOR, counts what becomes of
// every span, and says so when it is asked.
import 'reflect-metadata';
import { createRequire } from 'node:module';
import v8 from 'node:v8';
import vm from 'node:vm';
import { NestFactory } from '@nestjs/core';
import { context, createContextKey, diag, DiagLogLevel } from '@opentelemetry/api';
import { isSpanGroupEnabled, overrideSpanGroups, setLensLogger } from 'nest-lens';
import { tap } from 'rxjs';
import { AppModule } from '../../sample-app/dist/app.module.js';

v8.setFlagsFromString('--expose-gc');
const collectGarbage = vm.runInNewContext('gc');
const require = createRequire(createRequire(import.meta.url).resolve('@opentelemetry/sdk-node'));
const { OTLPTraceExporter } = require('@opentelemetry/exporter-trace-otlp-http');

const counts = { made: 0, sent: 0, failed: 0, dropped: 0 };
/** When exports failed, from their beginning to their end. */
const failures = [];

// The batch processor drops what its queue can't take, and only says how many, here.
const say = (message) => {
  const dropped = /Dropped (\d+) spans because maxQueueSize/.exec(String(message));
  if (dropped) counts.dropped += Number(dropped[1]);
};
diag.setLogger(
  { error: say, warn: say, info: say, debug: say, verbose: say },
  { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true },
);
const warnings = {};
setLensLogger({ warn: (_, { code }) => (warnings[code] = (warnings[code] ?? 0) + 1) });

const exporter = new OTLPTraceExporter({
  url: `${process.env.SOAK_COLLECTOR}/v1/traces`,
  timeoutMillis: 2_000,
});
const counted = {
  export(spans, done) {
    const began = Date.now();
    exporter.export(spans, (result) => {
      const isSent = Number(result.code) === 0;
      counts[isSent ? 'sent' : 'failed'] += spans.length;
      if (!isSent) failures.push([began, Date.now()]);
      done(result);
    });
  },
  forceFlush: () => exporter.forceFlush(),
  shutdown: () => exporter.shutdown(),
};
/** When spans were said to be dropped, to the twentieth of a second. */
const overflows = [];
let droppedBefore = 0;
let lookedAt = Date.now();
setInterval(() => {
  const now = Date.now();
  if (counts.dropped > droppedBefore) overflows.push([lookedAt, now]);
  droppedBefore = counts.dropped;
  lookedAt = now;
}, 50).unref();

/** In the context of a handler's call: how many spans it has got. */
const CALL = createContextKey('call of a handler');
const calls = { on: 0, off: 0, wrong: 0 };
let specs = 0;
const counter = {
  onStart(span, parentContext) {
    const call = parentContext.getValue(CALL);
    if (call !== undefined && 'nestjs.callback' in span.attributes) call.spans++;
  },
  onEnd: () => void counts.made++,
  forceFlush: async () => undefined,
  shutdown: async () => undefined,
};
/** Whether each call has one span while its group is on, and none while it is off; if the spec stays the same meanwhile. */
const callCheck = {
  intercept(execution, next) {
    const metadata = (target) => Reflect.getMetadata('nest-lens:span-group', target);
    const group = (metadata(execution.getHandler()) ?? metadata(execution.getClass()))?.group;
    if (!group) return next.handle();
    const call = { spans: 0 };
    const isOn = isSpanGroupEnabled(group);
    const spec = specs;
    const check = () => {
      if (spec !== specs) return;
      calls[isOn ? 'on' : 'off']++;
      if (call.spans !== (isOn ? 1 : 0)) calls.wrong++;
    };
    const inside = context.active().setValue(CALL, call);
    return context.with(inside, () => next.handle()).pipe(tap({ complete: check, error: check }));
  },
};

const app = await NestFactory.create(
  AppModule.create({
    config: { enabled: true, spanGroups: 'all' },
    telemetry: { spanProcessors: [counter], spanExporter: counted },
    shutdownTimeoutMs: 10_000,
  }),
  { logger: false, forceCloseConnections: true },
);
app.useGlobalInterceptors(callCheck);
app.enableShutdownHooks();
await app.listen(0, '127.0.0.1');
process.send({ url: await app.getUrl() });

const state = globalThis[Symbol.for('nest-lens.state.1')];

function measure() {
  collectGarbage();
  return {
    heap: process.memoryUsage().heapUsed,
    registry: state.namespaces.size + state.gates.size + state.said.size,
    inFlight: state.inFlight.count + state.inFlight.others.size,
    warningsKept: state.recordedWarnings.length,
    ...counts,
  };
}

process.on('message', (message) => void obey(message));

async function obey({ ask, spec }) {
  if (spec !== undefined) {
    specs++;
    overrideSpanGroups(spec);
  }
  if (ask === 'rest') process.send({ resting: process.getActiveResourcesInfo() });
  if (ask === 'measure') process.send({ measured: measure() });
  if (ask === 'close') {
    await app.close();
    process.send({ closed: { counts, calls, failures, overflows, warnings } }, () => process.disconnect());
  }
}
