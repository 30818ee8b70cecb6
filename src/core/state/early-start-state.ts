import type { Pipeline } from './telemetry-state.js';

/** What `nest-lens/register` has started before the application. `telemetry/early-sdk` owns it. */
export interface EarlyStart {
  /** The SDK, until a set-up takes it over. */
  sdk: EarlySdk | undefined;
  /** The error message of a failed start. */
  failure: string | undefined;
  /** They have patched modules that the application has loaded, so every set-up of the process uses them. */
  instrumentations: readonly InstrumentationLike[];
}

/** The type is structural: the copy that started the SDK may differ from the copy that takes it over. */
export interface EarlySdk extends Pipeline {
  /** The settings that it was started with, as text to compare. */
  readonly settings: string;
  /** The run id on the resource of every span. */
  readonly runId: string;
  /** Whether it made a tracer provider. It makes none if the environment turns traces off. */
  readonly hasTracerProvider: boolean;
  /** Hands the SDK over: the set-up ends it from now on. */
  take(): void;
}

/** The members that NestLens needs of an instrumentation, such as those of `@opentelemetry/auto-instrumentations-node`. */
export interface InstrumentationLike {
  /** Its package's name, e.g. `@opentelemetry/instrumentation-http`. */
  readonly instrumentationName: string;
  /** Patches the instrumented module. */
  enable(): void;
  /** Removes the patches. */
  disable(): void;
}
