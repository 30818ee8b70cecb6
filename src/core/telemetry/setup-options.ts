import type { Attributes } from '@opentelemetry/api';
import type { InstrumentationGroupsOptions } from '../instrumentations/instrumentation-groups-options.js';
import type { SpanGroupSpecSource } from '../sources/span-group-spec-source.js';
import type { RequestOptInOptions } from '../opt-in/request-opt-in-options.js';
import type { InstrumentationLike } from '../state/state-shape.js';

export type { InstrumentationLike };

/** What NestLens needs of the SDK's `SpanExporter`. Structural, so that the SDK stays an optional peer. */
export interface SpanExporterLike {
  /** Sends a batch of ended spans; calls back with code 0 when they have arrived, 1 when they are lost. */
  export(spans: unknown[], resultCallback: (result: { code: number; error?: Error }) => void): void;
  /** Sends what is left and stops. Called once, by the shutdown of telemetry. */
  shutdown(): Promise<void>;
  /** Resolves when everything given so far is sent. */
  forceFlush?(): Promise<void>;
}

/** What NestLens needs of the SDK's `SpanProcessor`. */
export interface SpanProcessorLike {
  /** Called in line, when a span starts. */
  onStart(span: never, parentContext: never): void;
  /** Called in line, when a span has ended. */
  onEnd(span: never): void;
  /** Lets go of what it holds and stops. It is flushed first. */
  shutdown(): Promise<void>;
  /** Resolves when the spans that it holds have been passed on. */
  forceFlush(): Promise<void>;
}

/** What NestLens needs of the SDK's metric readers. */
export interface MetricReaderLike {
  /** Reads every instrument now. */
  collect(): Promise<unknown>;
  /** Exports what is left and stops. */
  shutdown(): Promise<void>;
  /** Resolves when everything measured so far is exported. */
  forceFlush(): Promise<void>;
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
  /**
   * Whether a thrown value makes a span an error; it is recorded either way. For control flow that is thrown, such as BullMQ's
   * `DelayedError`. Undefined leaves it to the rule: everything is an error but an `HttpException` below 500. A site's own
   * `isError` is asked first. @defaultValue undefined for everything
   */
  isError?: (thrown: unknown) => boolean | undefined;
  /**
   * Makes every instrumentation of the process a span group of the namespace `instrumentation`, so that its spans obey the spec:
   * `pg`, `http_server`, `http_client`. An object says how they are called and which presets they are in.
   *
   * @defaultValue what `instrumentationGroups` of the configuration says, else false: their spans flow whatever the spec says
   */
  instrumentationGroups?: boolean | InstrumentationGroupsOptions;
  /**
   * Where the spec comes from while the process runs. What it gives beats the configured spec and `spanGroupsFile`; an override beats
   * it. The set-up waits for its first word for half a second at most.
   *
   * @defaultValue the file that `spanGroupsFile` of the configuration names, else none
   */
  specSource?: SpanGroupSpecSource;
  /**
   * Lets requests that carry a signed header, `x-lens-groups`, turn span groups on for themselves; see
   * {@link RequestOptInOptions}. @defaultValue none: nobody looks at headers
   */
  requestOptIn?: RequestOptInOptions;
}
