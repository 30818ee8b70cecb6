import type { Attributes } from '@opentelemetry/api';

/** What NestLens needs of the SDK's `SpanExporter`. Structural, so that the SDK stays an optional peer. */
export interface SpanExporterLike {
  export(spans: unknown[], resultCallback: (result: { code: number; error?: Error }) => void): void;
  shutdown(): Promise<void>;
  forceFlush?(): Promise<void>;
}

/** What NestLens needs of the SDK's `SpanProcessor`. */
export interface SpanProcessorLike {
  onStart(span: never, parentContext: never): void;
  onEnd(span: never): void;
  shutdown(): Promise<void>;
  forceFlush(): Promise<void>;
}

/** What NestLens needs of the SDK's metric readers. */
export interface MetricReaderLike {
  collect(): Promise<unknown>;
  shutdown(): Promise<void>;
  forceFlush(): Promise<void>;
}

/** What NestLens needs of an instrumentation, such as those of `@opentelemetry/auto-instrumentations-node`. */
export interface InstrumentationLike {
  readonly instrumentationName: string;
  enable(): void;
  disable(): void;
}

/** What `setupTelemetry` is given besides its configuration. */
export interface SetupOptions {
  /** Used for spans instead of the configured exporter, behind a batch span processor. @defaultValue none */
  spanExporter?: SpanExporterLike;
  /** Used for spans instead of the configured exporter; together with `spanExporter` both get every span. @defaultValue none */
  spanProcessors?: SpanProcessorLike[];
  /** Used for metrics instead of the configured exporter. @defaultValue none */
  metricReader?: MetricReaderLike;
  /** Registered with the SDK. Those that patch a module must be there before it is loaded. @defaultValue none */
  instrumentations?: (InstrumentationLike | InstrumentationLike[])[];
  /** Added to the resource, over what the environment says. @defaultValue none */
  resourceAttributes?: Attributes;
  /**
   * `attach` uses the tracer provider that the application registered; `own` builds one with the OpenTelemetry Node SDK.
   * @defaultValue attach when a provider is registered, else own
   */
  mode?: 'own' | 'attach';
}
