import { metrics, type Observable, type ObservableCallback, type ObservableResult } from '@opentelemetry/api';
import { SpanRegistry } from '../groups/span-registry.js';
import { putAll, type TakeBack } from '../instrumentations/take-back.js';
import { SCOPE_NAME } from '../spans/lens-tracer.js';
import { processState } from '../state/process-state.js';
import { GROUP_ATTRIBUTE } from '../spans/site-attributes.js';
import { VERSION } from '../state/version.js';
import { registeredApis } from './otel-globals.js';
import type { SetupOptions } from './setup-options.js';

/** The metrics of one set-up. */
export interface LensMetrics {
  /** Keeps the present state for the last collection, because a shutdown first turns every group off. */
  freeze(): void;
  /** Removes them from the meter provider. */
  stop(): void;
}

/** Variables that say where metrics go. NestLens checks only whether they are set; the SDK reads them. */
const METRICS_VARIABLES = [
  'OTEL_METRICS_EXPORTER',
  'OTEL_EXPORTER_OTLP_ENDPOINT',
  'OTEL_EXPORTER_OTLP_METRICS_ENDPOINT',
  'OTEL_CONFIG_FILE',
];

/**
 * Whether there is a reader for our metrics. An application that gives its own span pipeline, as tests do, and nothing for
 * metrics would otherwise send them to the SDK's default address when it closes, and warn.
 */
export function areMetricsAskedFor({ spanExporter, spanProcessors, metricReader }: SetupOptions): boolean {
  if (registeredApis().meterProvider === undefined) return false;
  const isSpansOnly = (spanExporter ?? spanProcessors) !== undefined && metricReader === undefined;
  return !isSpansOnly || METRICS_VARIABLES.some((name) => Boolean(process.env[name]?.trim()));
}

/**
 * Registers the metrics of NestLens with the meter provider in force: the groups that are on, the number of spans of each,
 * and the outcomes of requests that turn groups on.
 *
 * They are read when a reader collects. A span costs one addition, and nothing while metrics are off.
 */
export function startLensMetrics(): LensMetrics {
  const meter = metrics.getMeter(SCOPE_NAME, VERSION);
  const counts = new Map<string, { count: number }>();
  const stopCounting = (): void => {
    if (processState.spanCounts === counts) processState.spanCounts = undefined;
  };
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
  const stop = putAll((keep) => {
    processState.spanCounts = counts;
    keep(stopCounting);
    keep(observe(enabled, observeEnabled));
    keep(observe(spans, observeSpans));
    keep(observeOptIns());
  });
  return {
    freeze() {
      frozen = statesOfGroups();
      stopCounting();
    },
    stop,
  };
}

function observe(instrument: Observable, callback: ObservableCallback): TakeBack {
  instrument.addCallback(callback);
  return () => instrument.removeCallback(callback);
}

/** Counts requests that turn groups on. The counts outlive the end of that feature, for the last collection. */
function observeOptIns(): TakeBack | undefined {
  const { requestOptIn } = processState;
  if (requestOptIn === undefined) return undefined;
  const requests = metrics.getMeter(SCOPE_NAME, VERSION).createObservableCounter('nestlens.request_opt_ins', {
    description: 'Requests that carried the header x-lens-groups',
    unit: '{request}',
  });
  return observe(requests, (result) => {
    for (const [outcome, count] of requestOptIn.counts)
      result.observe(count, { 'nestlens.outcome': outcome });
  });
}
