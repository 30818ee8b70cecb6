import { SpanKind, trace } from '@opentelemetry/api';
import {
  injectContext,
  managedSpan,
  nestLensConfigFromEnv,
  type NestLensConfig,
  type SetupOptions,
  SpanRegistry,
  type TelemetryHandle,
} from 'nest-lens/core';
import { captureWarnings } from '../support/capture-warnings.js';
import { setUpForTest } from '../support/live-telemetry.js';
import { type OtlpReceiver, type ReceivedSpan, startReceiver } from '../support/otlp-receiver.js';
import { setEnvironment } from './scenario-environment.js';

export interface Emission {
  config?: Partial<NestLensConfig>;
  options?: SetupOptions;
  /** How many times the two spans are made. */
  count?: number;
  /** Where `COLLECTOR` stands for in the variables. */
  receiver?: OtlpReceiver;
  /** Runs between the spans and the shutdown. */
  before?(emitted: Emitted): unknown;
}

export interface Emitted {
  receiver: OtlpReceiver;
  handle: TelemetryHandle;
  isExporting: boolean;
  /** Whether spans are made at all. */
  isRecording: boolean;
  /** What was propagated within the outer span. */
  carrier: Record<string, string>;
  /** Codes of warnings. */
  warnings: string[];
  span(name: string): ReceivedSpan;
}

/** Sets up with these variables and options, makes a span in a span, and shuts down. */
export async function emit(variables: Record<string, string> = {}, asked: Emission = {}): Promise<Emitted> {
  const receiver = asked.receiver ?? (await startReceiver());
  const merged = { OTEL_LOGS_EXPORTER: 'none', OTEL_EXPORTER_OTLP_ENDPOINT: 'COLLECTOR', ...variables };
  const isSet = ([, value]: [string, string]): boolean => value !== '';
  setEnvironment(
    Object.fromEntries(
      Object.entries(merged)
        .filter(isSet)
        .map(([name, value]) => [name, value.replace('COLLECTOR', receiver.url)]),
    ),
  );
  const warnings = captureWarnings();
  SpanRegistry.register('shop', ['orders'], {}, { allowOverride: true });
  const { exporter, runId, userId } = nestLensConfigFromEnv();
  const handle = await setUpForTest({ exporter, runId, userId, ...asked.config }, asked.options);
  const emitted: Emitted = {
    receiver,
    handle,
    isExporting: handle.isExporting,
    isRecording: handle.tracer.startSpan('probe').isRecording(),
    carrier: {},
    warnings: [],
    span: (wanted) => {
      const found = receiver.spans.find(({ name }) => name === wanted);
      if (found === undefined) throw new Error(`no span ${wanted} among [${receiver.names().join(', ')}]`);
      return found;
    },
  };
  for (let i = 0; i < (asked.count ?? 1); i++) makeSpans(emitted.carrier);
  await asked.before?.(emitted);
  await handle.shutdown();
  emitted.warnings.push(...warnings.codes());
  return emitted;
}

function makeSpans(carrier: Record<string, string>): void {
  managedSpan('orders', 'outer', { kind: SpanKind.SERVER }, (outer) => {
    injectContext(carrier);
    const context = outer?.spanContext() ?? trace.getTracer('x').startSpan('linked').spanContext();
    managedSpan(
      'orders',
      'inner',
      { attributes: { first: 'first value', second: 'second value' }, links: [{ context }, { context }] },
      (inner) => {
        inner?.addEvent('one', { first: 1, second: 2 });
        inner?.addEvent('two', { first: 1, second: 2 });
      },
    );
  });
}
