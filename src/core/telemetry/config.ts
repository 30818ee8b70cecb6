import { argumentError } from '../diagnostics/argument-error.js';
import { ConfigError, createError } from '../diagnostics/errors.js';
import { describeValue } from '../diagnostics/quote-details.js';

/** Where spans go when the application names no exporter of its own. */
export type ExporterName = 'otlp' | 'console' | 'tree' | 'none';

/** What an `HttpException` below 500 does to the status of a span that isn't a handler's. */
export type ClientErrors = 'unset' | 'error';

/** What `setupTelemetry` is to do. `nestLensConfigFromEnv` makes one from the environment. */
export interface NestLensConfig {
  /** Off: no provider is built, no SDK package loaded, every group stays off. @defaultValue false */
  enabled: boolean;
  /** The spec: which groups emit, e.g. `per_request,payment`. @defaultValue 'default' */
  spanGroups: string;
  /**
   * A file that holds the spec, followed while the process runs; it beats `spanGroups`. See `fileSpecSource`. A `specSource` of the
   * options beats both. @defaultValue none
   */
  spanGroupsFile?: string;
  /**
   * `otlp`: the SDK decides by its own `OTEL_*` variables; `console`: one compact JSON line a span; `tree`: each
   * trace as a tree, for a person at a terminal; `none`: spans are made
   * and propagated, but not exported. @defaultValue 'otlp'
   */
  exporter: ExporterName;
  /** Off: no tracer provider. @defaultValue true */
  tracesEnabled: boolean;
  /** Off: no meter provider. @defaultValue true */
  metricsEnabled: boolean;
  /**
   * What an `HttpException` below 500 does to the status of the spans that it passes: `unset` leaves it, `error` makes it an
   * error, except in HTTP and GraphQL handlers, which answer with it. @defaultValue 'unset'
   */
  clientErrors?: ClientErrors;
  /** Resource attribute `nestlens.run_id`: tells the runs of one service apart. @defaultValue eight random hex digits */
  runId: string;
  /** Resource attribute `nestlens.user_id`, left out when empty. @defaultValue '' */
  userId: string;
  /**
   * Makes every instrumentation of the process a span group, as the option of that name does, which beats it.
   * @defaultValue false
   */
  instrumentationGroups?: boolean;
  /** Resource attribute `service.name`. Unset: the SDK's business (`OTEL_SERVICE_NAME`, `OTEL_RESOURCE_ATTRIBUTES`). */
  serviceName?: string;
  /**
   * Where values came from. `nestLensConfigFromEnv` fills it in, and a spread keeps it. It holds each value too: one that you
   * replace counts as `options`. Leave it out of a config that you write yourself. @defaultValue none
   */
  origins?: Readonly<Partial<Record<TracedKey, ConfigOrigin>>>;
}

/** The keys of a config whose origin is kept: it is shown, or decides how the value is exported. */
export type TracedKey = 'spanGroups' | 'spanGroupsFile' | 'runId' | 'userId' | 'enabled';

/** Where one value of a config came from. */
export interface ConfigOrigin {
  /** The name of the variable, or `default`. */
  readonly source: string;
  /** The value that came from there. */
  readonly value: string;
}

export const EXPORTERS: readonly ExporterName[] = ['otlp', 'console', 'tree', 'none'];
export const CLIENT_ERRORS: readonly ClientErrors[] = ['unset', 'error'];

/**
 * Which of the allowed words this is.
 *
 * @param source the option or variable that held it, for the error
 * @throws ConfigError when it is none of them
 */
export function checkWord<W extends string>(
  allowed: readonly W[],
  word: string,
  source: string,
  value = word,
): W {
  const known = allowed.find((name) => name === word);
  if (known === undefined) throw invalidValue(source, value, allowed);
  return known;
}

/** The variable that a value came from, `default`, or `options` where the application said it in code. */
export function originOf(config: Partial<NestLensConfig>, key: TracedKey): string {
  const origin = config.origins?.[key];
  return origin?.value === String(config[key]) ? origin.source : 'options';
}

/** Whether a value came from a variable that the deployment shares with processes of NeMo Lens, the Python library. */
export function isFromNemo(config: NestLensConfig, key: TracedKey): boolean {
  return originOf(config, key).startsWith('NEMO_LENS_');
}

/**
 * Checks what the compiler can't where a config comes from JavaScript.
 *
 * @returns a copy, frozen
 * @throws TypeError for what is no object; ConfigError for a value of a wrong type, or one that isn't allowed
 */
export function validateConfig(config: NestLensConfig): NestLensConfig {
  if (typeof config !== 'object' || config === null || Array.isArray(config)) {
    throw argumentError('setupTelemetry: config', 'an object as nestLensConfigFromEnv() gives it', config);
  }
  checkWord(EXPORTERS, config.exporter, 'exporter');
  if (config.clientErrors !== undefined) checkWord(CLIENT_ERRORS, config.clientErrors, 'clientErrors');
  for (const key of ['enabled', 'tracesEnabled', 'metricsEnabled'] as const) {
    if (typeof config[key] !== 'boolean') throw invalidValue(key, config[key], BOOLEANS);
  }
  const { instrumentationGroups = false } = config;
  if (typeof instrumentationGroups !== 'boolean')
    throw invalidValue('instrumentationGroups', instrumentationGroups, BOOLEANS);
  if (typeof config.spanGroups !== 'string') throw invalidValue('spanGroups', config.spanGroups, TEXTS);
  for (const key of ['spanGroupsFile', 'runId', 'userId', 'serviceName'] as const) {
    // What JavaScript leaves out of a config has its default, or none.
    const { [key]: value = '' } = config;
    if (typeof value !== 'string') throw invalidValue(key, value, TEXTS);
  }
  return Object.freeze({ ...config });
}

const BOOLEANS = ['true', 'false'];
const TEXTS = ['a text'];

function invalidValue(source: string, given: unknown, allowed: readonly string[]): ConfigError {
  const value = typeof given === 'string' ? given : describeValue(given);
  return createError(ConfigError, 'INVALID_VALUE', { source, value, allowed });
}
