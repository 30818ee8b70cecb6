import { argumentError } from '../diagnostics/argument-error.js';
import { ConfigError, createError } from '../diagnostics/errors.js';
import { describeValue } from '../diagnostics/quote-details.js';

/** The destination of spans if the application gives no exporter of its own. */
export type ExporterName = 'otlp' | 'console' | 'tree' | 'none';

/** The effect of an `HttpException` below 500 on the status of a span that isn't a handler's. */
export type ClientErrors = 'unset' | 'error';

/** The configuration of `setupTelemetry`. `nestLensConfigFromEnv` makes one from the environment. */
export interface NestLensConfig {
  /**
   * Whether telemetry is on. If off, no provider is built, no SDK package is loaded, and every group stays off. @defaultValue
   * false
   */
  enabled: boolean;
  /** The spec: the groups that emit, e.g. `per_request,payment`. @defaultValue 'default' */
  spanGroups: string;
  /**
   * A file with the spec, followed while the process runs; it overrides `spanGroups`. See `fileSpecSource`. A `specSource`
   * among the options overrides both. @defaultValue none
   */
  spanGroupsFile?: string;
  /**
   * `otlp`: the SDK decides by its own `OTEL_*` variables; `console`: one compact JSON line a span; `tree`: each
   * trace as a tree, for a person at a terminal; `none`: spans are made
   * and propagated, but not exported. @defaultValue 'otlp'
   */
  exporter: ExporterName;
  /** Whether a tracer provider is built. @defaultValue true */
  tracesEnabled: boolean;
  /** Whether a meter provider is built. @defaultValue true */
  metricsEnabled: boolean;
  /**
   * The effect of an `HttpException` below 500 on the status of the spans that it passes: `unset` leaves it, `error` makes it
   * an error. The spans of HTTP and GraphQL handlers, which answer with it, are excepted. @defaultValue 'unset'
   */
  clientErrors?: ClientErrors;
  /** Resource attribute `nestlens.run_id`: tells the runs of one service apart. @defaultValue eight random hex digits */
  runId: string;
  /** Resource attribute `nestlens.user_id`, left out when empty. @defaultValue '' */
  userId: string;
  /**
   * Makes every instrumentation of the process a span group. The option of the same name overrides it. @defaultValue false
   */
  instrumentationGroups?: boolean;
  /** Resource attribute `service.name`. If unset, the SDK decides (`OTEL_SERVICE_NAME`, `OTEL_RESOURCE_ATTRIBUTES`). */
  serviceName?: string;
  /**
   * The origins of the values. `nestLensConfigFromEnv` fills it in, and a spread keeps it. It holds each value too, so a
   * value that you replace counts as `options`. Leave it out of a config that you write yourself. @defaultValue none
   */
  origins?: Readonly<Partial<Record<TracedKey, ConfigOrigin>>>;
}

/** The keys of a config whose origin is kept, because it is shown or decides how the value is exported. */
export type TracedKey = 'spanGroups' | 'spanGroupsFile' | 'runId' | 'userId' | 'enabled';

/** The origin of one value of a config. */
export interface ConfigOrigin {
  /** The name of the variable, or `default`. */
  readonly source: string;
  /** The value of that origin. */
  readonly value: string;
}

export const EXPORTERS: readonly ExporterName[] = ['otlp', 'console', 'tree', 'none'];
export const CLIENT_ERRORS: readonly ClientErrors[] = ['unset', 'error'];

/**
 * Finds the allowed word that a value is.
 *
 * @param source the option or variable that held it, for the error
 * @throws ConfigError if it is none of them
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

/** The variable of a value, or `default`, or `options` if code has set the value. */
export function originOf(config: Partial<NestLensConfig>, key: TracedKey): string {
  const origin = config.origins?.[key];
  return origin?.value === String(config[key]) ? origin.source : 'options';
}

/** Whether a value came from a variable that the deployment shares with processes of NeMo Lens, the Python library. */
export function isFromNemo(config: NestLensConfig, key: TracedKey): boolean {
  return originOf(config, key).startsWith('NEMO_LENS_');
}

/**
 * Checks a config, because the compiler can't check one that comes from JavaScript.
 *
 * @returns a copy, frozen
 * @throws TypeError if the config isn't an object; ConfigError for a value of a wrong type, or one that isn't allowed
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
    // A key that JavaScript leaves out gets its default, if it has one.
    const { [key]: value = '' } = config;
    if (typeof value !== 'string') throw invalidValue(key, value, TEXTS);
  }
  return Object.freeze({ ...config });
}

const BOOLEANS = ['true', 'false'];
const TEXTS = ['a string'];

function invalidValue(source: string, given: unknown, allowed: readonly string[]): ConfigError {
  const value = typeof given === 'string' ? given : describeValue(given);
  return createError(ConfigError, 'INVALID_VALUE', { source, value, allowed });
}
