import { metrics, type ObservableResult } from '@opentelemetry/api';
import { SpanRegistry } from '../groups/span-registry.js';
import { SCOPE_NAME } from '../spans/lens-tracer.js';
import { processState } from '../state/process-state.js';
import { GROUP_ATTRIBUTE } from '../spans/site-attributes.js';
import { VERSION } from '../state/version.js';
import { registeredApis } from './otel-globals.js';
import type { SetupOptions } from './setup-options.js';

/** The metrics of one set-up. */
export interface LensMetrics {
  /** Keeps what is on now for the last collection: a shutdown first turns every group off. */
  freeze(): void;
  /** Takes them back. */
  stop(): void;
}

/** Variables by which somebody says where metrics go. Only whether they are set is looked at; what they say is the SDK's. */
const METRICS_VARIABLES = [
  'OTEL_METRICS_EXPORTER',
  'OTEL_EXPORTER_OTLP_ENDPOINT',
  'OTEL_EXPORTER_OTLP_METRICS_ENDPOINT',
  'OTEL_CONFIG_FILE',
];

/**
 * Whether our metrics have a reader that is meant for them. An application that gives its own spans pipeline, as tests do, and
 * says nothing of metrics would otherwise try to send them to the SDK's default address when it closes, and warn.
 */
export function areMetricsAskedFor({ spanExporter, spanProcessors, metricReader }: SetupOptions): boolean {
  if (registeredApis().meterProvider === undefined) return false;
  const isSpansOnly = (spanExporter ?? spanProcessors) !== undefined && metricReader === undefined;
  return !isSpansOnly || METRICS_VARIABLES.some((name) => Boolean(process.env[name]?.trim()));
}

/**
 * Registers the metrics of NestLens with the meter provider in force: which groups are on, how many spans each made, and what
 * became of requests that wanted groups turned on.
 *
 * They are read when a reader collects; in between, a span costs an addition, and nothing at all while metrics are off.
 */
export function startLensMetrics(): LensMetrics {
  const meter = metrics.getMeter(SCOPE_NAME, VERSION);
  const counts = (processState.spanCounts = new Map<string, { count: number }>());
  const enabled = meter.createObservableGauge('nestlens.span_group.enabled', {
    description: 'Whether a registered span group is on: 1 or 0',
  });
  const spans = meter.createObservableCounter('nestlens.spans', {
    description: 'Spans started by NestLens',
    unit: '{span}',
  });
  const statesOfGroups = (): Map<string, number> => {
    const { enabled: on } = processState;
    return new Map([...SpanRegistry.groups(), ...on].map((group) => [group, on.has(group) ? 1 : 0]));
  };
  let frozen: Map<string, number> | undefined;
  const observeEnabled = (result: ObservableResult): void => {
    for (const [group, state] of frozen ?? statesOfGroups()) {
      result.observe(state, { [GROUP_ATTRIBUTE]: group });
    }
  };
  const observeSpans = (result: ObservableResult): void => {
    for (const [group, { count }] of counts) result.observe(count, { [GROUP_ATTRIBUTE]: group });
  };
  const stopCountingOptIns = observeOptIns();
  enabled.addCallback(observeEnabled);
  spans.addCallback(observeSpans);
  return {
    freeze() {
      frozen = statesOfGroups();
      if (processState.spanCounts === counts) processState.spanCounts = undefined;
    },
    stop() {
      enabled.removeCallback(observeEnabled);
      spans.removeCallback(observeSpans);
      stopCountingOptIns();
      if (processState.spanCounts === counts) processState.spanCounts = undefined;
    },
  };
}

/** Where requests can turn groups on. The counts outlive the end of that, for the last collection. */
function observeOptIns(): () => void {
  const { requestOptIn } = processState;
  if (requestOptIn === undefined) return () => undefined;
  const requests = metrics.getMeter(SCOPE_NAME, VERSION).createObservableCounter('nestlens.request_opt_ins', {
    description: 'Requests that brought the header x-lens-groups',
    unit: '{request}',
  });
  const observe = (result: ObservableResult): void => {
    for (const [outcome, count] of requestOptIn.counts)
      result.observe(count, { 'nestlens.outcome': outcome });
  };
  requests.addCallback(observe);
  return () => requests.removeCallback(observe);
}
