import 'reflect-metadata';
import { NodeSDK, type NodeSDKConfiguration } from '@opentelemetry/sdk-node';
import { captureSpans } from 'nest-lens/testing';

Object.assign(process.env, { OTEL_METRICS_EXPORTER: 'none', OTEL_LOGS_EXPORTER: 'none' });

const captured = captureSpans();

/** Starts the SDK that an application of the guides has, with its spans in memory instead of at a collector. */
export function startSdk(instrumentations: NodeSDKConfiguration['instrumentations'] = []): void {
  const spanProcessors = [captured.spanProcessor] as NodeSDKConfiguration['spanProcessors'];
  new NodeSDK({ spanProcessors, instrumentations }).start();
}

/** The spans so far, each as `parent > name`, sorted. They are forgotten then. */
export function spanLines(): string[] {
  const spans = captured.spans();
  captured.clear();
  const nameOf = new Map(spans.map((span) => [span.spanContext().spanId, span.name]));
  return spans
    .map(({ name, parentSpanContext }) => {
      const parent = nameOf.get(parentSpanContext?.spanId ?? '');
      return parent === undefined ? name : `${parent} > ${name}`;
    })
    .sort();
}

/** The attributes of the first span of a name. */
export function attributesOf(name: string): Record<string, unknown> {
  return { ...captured.named(name)[0]?.attributes };
}
