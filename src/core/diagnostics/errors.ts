import { type QuotedDetails, quoteDetails } from './quote-details.js';

/** The subject of a {@link NestLensError}. Codes are stable, also across copies of the package, so tell errors apart by them. */
export type NestLensErrorCode =
  | 'EMPTY_NAMESPACE'
  | 'EMPTY_GROUP_NAME'
  | 'RESERVED_NAME'
  | 'NAMESPACE_REGISTERED'
  | 'NAMESPACE_NOT_REGISTERED'
  | 'PINNED'
  | 'INVALID_SPEC'
  | 'INVALID_TTL'
  | 'INVALID_VALUE'
  | 'TELEMETRY_ALREADY_SET_UP'
  | 'SDK_NOT_FOUND'
  | 'NOT_A_METHOD'
  | 'EXPERIMENTAL_DECORATORS_OFF'
  | 'RUNTIME_CONTROL_UNGUARDED'
  | 'INTROSPECTION_UNGUARDED'
  | 'INTROSPECTION_DIFFERS'
  | 'INTROSPECTION_TOO_LATE'
  | 'ROOT_LOADED_LAZILY'
  | 'OPTIONS_REQUEST_SCOPED'
  | 'NO_OPTIONS_FACTORY';

interface ErrorDetails {
  EMPTY_NAMESPACE: Record<string, never>;
  EMPTY_GROUP_NAME: { namespace: string };
  RESERVED_NAME: { namespace: string; kind: 'group' | 'preset' };
  /** `first` and `now` say where each registration was made. `differences` is empty if both have the same groups and presets. */
  NAMESPACE_REGISTERED: { namespace: string; first: string; now: string; differences: readonly string[] };
  NAMESPACE_NOT_REGISTERED: { namespace: string; namespaces: readonly string[] };
  PINNED: Record<string, never>;
  INVALID_SPEC: { problem: string };
  INVALID_TTL: { given: string };
  INVALID_VALUE: { source: string; value: string; allowed: readonly string[] };
  TELEMETRY_ALREADY_SET_UP: Record<string, never>;
  SDK_NOT_FOUND: Record<string, never>;
  NOT_A_METHOD: { decorator: string; site: string };
  EXPERIMENTAL_DECORATORS_OFF: { decorator: string };
  RUNTIME_CONTROL_UNGUARDED: Record<string, never>;
  /** `environment` says in words what NODE_ENV is. */
  INTROSPECTION_UNGUARDED: { options: readonly string[]; environment: string };
  INTROSPECTION_DIFFERS: Record<string, never>;
  INTROSPECTION_TOO_LATE: Record<string, never>;
  ROOT_LOADED_LAZILY: Record<string, never>;
  OPTIONS_REQUEST_SCOPED: Record<string, never>;
  NO_OPTIONS_FACTORY: Record<string, never>;
}

/**
 * All messages of errors that NestLens throws: code -> message. Each says what was wrong and what to do next. The details are
 * quoted: lists are strings.
 */
const MESSAGES: {
  readonly [C in NestLensErrorCode]: (details: QuotedDetails<ErrorDetails[C]>) => string;
} = {
  EMPTY_NAMESPACE: () =>
    'A span group registration needs a namespace: the name of the library or application that emits the spans.',
  EMPTY_GROUP_NAME: ({ namespace }) =>
    `Namespace '${namespace}' registers a span group with an empty name. Give it a lowercase snake_case name.`,
  RESERVED_NAME: ({ namespace, kind }) =>
    `Namespace '${namespace}' registers a ${kind} named 'all'. 'all' always means every registered span group; choose another name.`,
  NAMESPACE_REGISTERED: ({ namespace, first, now, differences }) =>
    `Namespace '${namespace}' is already registered, by ${first}. ${now} registers it again` +
    (differences === '[]' ? '' : `, with differences: ${differences}`) +
    `. Unregister it first, or pass { allowOverride: true } to replace it.`,
  NAMESPACE_NOT_REGISTERED: ({ namespace, namespaces }) =>
    `Namespace '${namespace}' is not registered. Registered namespaces: ${namespaces}. Correct the name.`,
  PINNED: () =>
    'The enabled span groups of this process are pinned (telemetry is disabled, or setEnabledSpanGroups was called), ' +
    'so they cannot be overridden. Enable telemetry, or call setSpanGroupSpec first.',
  INVALID_SPEC: ({ problem }) =>
    `The span group spec ${problem}. Nothing has changed. Correct it and call again.`,
  INVALID_TTL: ({ given }) =>
    `ttlMs must be a positive number of milliseconds, not ${given}. Leave it out for an override without an end.`,
  INVALID_VALUE: ({ source, value, allowed }) => `${source} is '${value}'. Allowed: ${allowed}.`,
  TELEMETRY_ALREADY_SET_UP: () =>
    'Telemetry is already set up in this process. Call shutdown() on its handle before you set it up again.',
  SDK_NOT_FOUND: () =>
    "Telemetry is enabled, but the package '@opentelemetry/sdk-node' can't be loaded. Install it " +
    '(npm i @opentelemetry/sdk-node), or register a tracer provider of your own before NestLens sets up.',
  NOT_A_METHOD: ({ decorator, site }) =>
    `${decorator} on ${site}: the decorator is for classes and methods, not for properties and accessors. Make ${site} a method.`,
  EXPERIMENTAL_DECORATORS_OFF: ({ decorator }) =>
    `${decorator} was called as an ECMAScript decorator, but like Nest's own it is one of TypeScript's experimental decorators. ` +
    'Set "experimentalDecorators": true in the compilerOptions of the tsconfig.json that this file is compiled with ' +
    '(with SWC, "legacyDecorator": true in jsc.transform).',
  RUNTIME_CONTROL_UNGUARDED: () =>
    'introspection.runtimeControl lets callers change which span groups emit, so it needs introspection.guards, or guards of ' +
    'its own: runtimeControl: { guards: [...] }. Name at least one guard, or turn runtimeControl off.',
  INTROSPECTION_UNGUARDED: ({ options, environment }) =>
    `${options} has no introspection.guards, so everybody who reaches this process could see its spans, and personal data in ` +
    `their attributes. NODE_ENV is ${environment}. Name at least one guard: introspection: { guards: [...] }. Where no stranger ` +
    "reaches the process, such as on your own machine, set NODE_ENV to 'development' or 'test' instead.",
  INTROSPECTION_DIFFERS: () =>
    'NestLensModule.forRoot was called more than once in one application, with different options for introspection. There is ' +
    'one endpoint, so NestLens cannot obey both. Give the same introspection everywhere, or call forRoot once.',
  INTROSPECTION_TOO_LATE: () =>
    'introspection came from the factory of NestLensModule.forRootAsync. That is too late: Nest has to know routes ' +
    'and guards before it can inject anything. Give it beside the factory: forRootAsync({ introspection, useFactory }).',
  ROOT_LOADED_LAZILY: () =>
    'NestLensModule.forRoot was loaded lazily, after the start of the application: Nest does not call its hooks and does not map its ' +
    'routes. Import it in the root module. A module that is loaded lazily can register groups with forFeature.',
  OPTIONS_REQUEST_SCOPED: () =>
    'NestLensModule.forRootAsync injects a request-scoped provider, so Nest cannot create its options at the start. Inject ' +
    'providers of the default scope.',
  NO_OPTIONS_FACTORY: () =>
    'NestLensModule.forRootAsync needs one of useFactory, useClass and useExisting. Give one of them, or call forRoot.',
};

/**
 * The error for a mistake in calling or wiring NestLens. `code` is the subject. Every copy of the package gives the same
 * `name` and `code`, so test those rather than `instanceof`.
 *
 * @example
 * try { overrideSpanGroups('all'); } catch (error) { if ((error as NestLensError).code === 'PINNED') return; throw error; }
 */
export class NestLensError extends Error {
  /** The class's name, which minifiers don't change. */
  override readonly name: string = 'NestLensError';

  constructor(
    /** The subject, as a stable word. */
    readonly code: NestLensErrorCode,
    message: string,
  ) {
    super(message);
  }
}

/** Thrown by `SpanRegistry.register` and `unregister`; nothing was changed. */
export class SpanRegistryError extends NestLensError {
  /** The class's name, which minifiers don't change. */
  override readonly name = 'SpanRegistryError';
}

/** Thrown for an invalid configuration value; the message names the variable or option, the value and what is allowed. */
export class ConfigError extends NestLensError {
  /** The class's name, which minifiers don't change. */
  override readonly name = 'ConfigError';
}

/** Thrown by a second enabled `setupTelemetry` while one is live. */
export class TelemetryAlreadySetUpError extends NestLensError {
  /** The class's name, which minifiers don't change. */
  override readonly name = 'TelemetryAlreadySetUpError';
}

type DetailsOf<C extends NestLensErrorCode> =
  ErrorDetails[C] extends Record<string, never> ? [] : [details: ErrorDetails[C]];

/** Makes the error of a code, with the message of the table. */
export function createError<C extends NestLensErrorCode, E extends NestLensError>(
  ErrorClass: new (code: NestLensErrorCode, message: string) => E,
  code: C,
  ...[details]: DetailsOf<C>
): E {
  const message = MESSAGES[code] as (details: object) => string;
  return new ErrorClass(code, message(quoteDetails(details ?? {})));
}
