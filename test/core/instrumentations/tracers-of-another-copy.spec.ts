import { afterAll, beforeAll, expect, it } from 'vitest';
import { compileCore, type CompiledCore } from '../../support/compiled-core.js';

let compiled: CompiledCore;
beforeAll(async () => {
  compiled = await compileCore();
});
afterAll(() => compiled.remove());

it('a tracer that one copy of the package has gated obeys the set-up of another, and an off span stays out', async () => {
  const { stdout } = await compiled.run(
    `
    const [a, b] = [await import(core), await import(copy)];
    const { context, trace } = await import('@opentelemetry/api');
    const { AsyncLocalStorageContextManager } = await import('@opentelemetry/context-async-hooks');
    const { BasicTracerProvider } = await import('@opentelemetry/sdk-trace-base');
    const sdk = new BasicTracerProvider();
    context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
    trace.setGlobalTracerProvider({
      getTracer(...scope) {
        const tracer = sdk.getTracer(...scope);
        return { startSpan: (...args) => tracer.startSpan(...args), startActiveSpan: () => undefined };
      },
    });
    for (const lens of [a, b]) lens.setLensLogger({ warn() {} });
    const setUp = (lens, spanGroups) =>
      lens.setupTelemetry({ ...lens.nestLensConfigFromEnv(), spanGroups }, { instrumentationGroups: true });
    const tracers = [];
    const areOn = () => tracers.map((tracer) => tracer.startSpan('work').isRecording());
    const first = await setUp(a, 'one');
    tracers.push(trace.getTracer('one'), trace.getTracer('two'));
    const said = [areOn()];
    await first.shutdown();
    said.push(areOn());
    const second = await setUp(b, 'two');
    said.push(areOn());
    tracers[0].startActiveSpan('off', () => said.push(trace.getActiveSpan() === undefined));
    await second.shutdown();
    said.push(areOn());
    console.log(JSON.stringify(said));`,
    { NEST_LENS_ENABLED: 'true', NEST_LENS_METRICS_ENABLED: 'false' },
  );
  expect(JSON.parse(stdout)).toEqual([[true, false], [true, true], [false, true], true, [true, true]]);
});
