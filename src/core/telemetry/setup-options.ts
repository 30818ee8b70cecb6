import type { Attributes } from '@opentelemetry/api';
import type { InstrumentationGroupsOptions } from '../instrumentations/instrumentation-groups-options.js';
import type { SpanGroupSpecSource } from '../sources/span-group-spec-source.js';
import type { RequestOptInOptions } from '../opt-in/request-opt-in-options.js';
import type { InstrumentationLike } from '../state/early-start-state.js';

export type { InstrumentationLike };

/**
 * The members that NestLens needs of the SDK's `SpanExporter`. The type is structural, so that the SDK stays an optional
 * peer.
 */
export interface SpanExporterLike {
  /** Sends a batch of ended spans; calls back with code 0 when they have arrived, 1 when they are lost. */
  export(spans: unknown[], resultCallback: (result: { code: number; error?: Error }) => void): void;
  /** Sends what is left and stops. The shutdown of telemetry calls it once. */
  shutdown(): Promise<void>;
  /** Resolves when everything given so far is sent. */
  forceFlush?(): Promise<void>;
}

/** The members that NestLens needs of the SDK's `SpanProcessor`. */
export interface SpanProcessorLike {
  /** Called synchronously when a span starts. */
  onStart(span: never, parentContext: never): void;
  /** Called synchronously when a span has ended. */
  onEnd(span: never): void;
  /** Stops; it is flushed before. */
  shutdown(): Promise<void>;
  /** Resolves when the spans that it holds have been passed on. */
  forceFlush(): Promise<void>;
}

/** The members that NestLens needs of the SDK's metric readers. */
export interface MetricReaderLike {
  /** Reads every instrument now. */
  collect(): Promise<unknown>;
  /** Exports what is left and stops. */
  shutdown(): Promise<void>;
  /** Resolves when everything measured so far is exported. */
  forceFlush(): Promise<void>;
}

/** The options of `setupTelemetry` besides the configuration. */
export interface SetupOptions {
  /** Exports spans in place of the configured exporter, behind a batch span processor. @defaultValue none */
  spanExporter?: SpanExporterLike;
  /** Get spans in place of the configured exporter. Together with `spanExporter`, both get every span. @defaultValue none */
  spanProcessors?: SpanProcessorLike[];
  /** Reads metrics in place of the configured exporter. @defaultValue none */
  metricReader?: MetricReaderLike;
  /** Registered with the SDK. Those that patch a module must exist before it is loaded. @defaultValue none */
  instrumentations?: (InstrumentationLike | InstrumentationLike[])[];
  /** Added to the resource; they override those of the environment. @defaultValue none */
  resourceAttributes?: Attributes;
  /**
   * `attach` uses the tracer provider that the application registered; `own` builds one with the OpenTelemetry Node SDK.
   * @defaultValue attach when a provider is registered, else own
   */
  mode?: 'own' | 'attach';
  /**
   * Whether a thrown value makes a span an error; it is recorded either way. Use it for thrown control flow, such as BullMQ's
   * `DelayedError`. If it returns undefined, the rule decides: every thrown value is an error except an `HttpException` below
   * 500. A site's own `isError` decides first. @defaultValue undefined for everything
   */
  isError?: (thrown: unknown) => boolean | undefined;
  /**
   * Makes every instrumentation of the process a span group of the namespace `instrumentation`, so that its spans obey the
   * spec: `pg`, `http_server`, `http_client`. An object sets their names and presets.
   *
   * @defaultValue `instrumentationGroups` of the configuration, else false: their spans flow whatever the spec says
   */
  instrumentationGroups?: boolean | InstrumentationGroupsOptions;
  /**
   * The source of the spec while the process runs. Its spec overrides the configured one and `spanGroupsFile`; an override
   * stands above it. The set-up waits half a second at most for its first spec.
   *
   * @defaultValue the file that `spanGroupsFile` of the configuration names, else none
   */
  specSource?: SpanGroupSpecSource;
  /**
   * Lets requests that carry a signed header, `x-lens-groups`, turn span groups on for themselves; see {@link
   * RequestOptInOptions}. @defaultValue none: headers aren't read
   */
  requestOptIn?: RequestOptInOptions;
}
