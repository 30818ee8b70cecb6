import { randomBytes } from 'node:crypto';
import { argumentError, checkOptions } from '../diagnostics/argument-error.js';
import { BOOLEAN_WORDS } from '../diagnostics/boolean-words.js';
import { FALLBACK_PREFIX, PREFIX } from '../diagnostics/variable-prefixes.js';
import { ConfigError, createError } from '../diagnostics/errors.js';
import {
  checkWord,
  CLIENT_ERRORS,
  type ConfigOrigin,
  EXPORTERS,
  type NestLensConfig,
  type TracedKey,
} from './config.js';
import { warnOfMisspeltVariables } from './environment-warnings.js';

/** The parts after the prefix in the names of the variables. */
const KEYS = [
  'ENABLED',
  'SPAN_GROUPS',
  'SPAN_GROUPS_FILE',
  'EXPORTER',
  'CLIENT_ERRORS',
  'TRACES_ENABLED',
  'METRICS_ENABLED',
  'INSTRUMENTATION_GROUPS',
  'RUN_ID',
  'USER_ID',
] as const;

/** The variables to read. */
export interface EnvOptions {
  /** The beginning of the variables' names: `<prefix>_<KEY>`, without the underscore. @defaultValue 'NEST_LENS' */
  prefix?: string;
  /** The prefix for keys whose first variable is unset or empty. @defaultValue 'NEMO_LENS' */
  fallbackPrefix?: string;
  /** The variables. @defaultValue `process.env` at the time of the call */
  env?: Readonly<Record<string, string | undefined>>;
}

/** @throws TypeError for a value of a wrong type */
export function checkEnvOptions(what: string, options: EnvOptions): void {
  checkOptions(what, options);
  for (const key of ['prefix', 'fallbackPrefix'] as const) {
    const prefix: unknown = options[key];
    if (prefix !== undefined && typeof prefix !== 'string')
      throw argumentError(`${what}.${key}`, 'a string', prefix);
  }
  checkOptions(`${what}.env`, options.env);
}

function createReader({ prefix = PREFIX, fallbackPrefix = FALLBACK_PREFIX, env = process.env }: EnvOptions) {
  warnOfMisspeltVariables(prefix, KEYS, env);
  warnOfMisspeltVariables(fallbackPrefix, KEYS, env, true);
  return (key: (typeof KEYS)[number]): ConfigOrigin | undefined => {
    for (const variable of [`${prefix}_${key}`, `${fallbackPrefix}_${key}`]) {
      const given: unknown = env[variable] ?? undefined;
      if (given !== undefined && typeof given !== 'string') throw argumentError(variable, 'a string', given);
      const value = given?.trim();
      if (value) return { source: variable, value };
    }
    return undefined;
  };
}

function booleanFrom(found: ConfigOrigin | undefined, fallback: boolean): boolean {
  if (found === undefined) return fallback;
  const value = BOOLEAN_WORDS.get(found.value.toLowerCase());
  if (value === undefined) {
    throw createError(ConfigError, 'INVALID_VALUE', {
      source: found.source,
      value: found.value,
      allowed: [...BOOLEAN_WORDS.keys()],
    });
  }
  return value;
}

function wordFrom<W extends string>(found: ConfigOrigin | undefined, allowed: readonly W[], fallback: W): W {
  if (found === undefined) return fallback;
  return checkWord(allowed, found.value.toLowerCase(), found.source, found.value);
}

/**
 * Merges explicit options over the environment, key by key.
 *
 * The variable of an explicit key is not read, so a bad one does no harm. The set-up checks the explicit options.
 */
export function resolveConfig(
  explicit: Partial<NestLensConfig>,
  envOptions: EnvOptions = {},
): NestLensConfig {
  const read = createReader(envOptions);
  const origins = { ...explicit.origins };
  const traced = (
    key: Exclude<TracedKey, 'enabled'>,
    found: ConfigOrigin | undefined,
    fallback: string,
  ): string => {
    const given = explicit[key];
    if (given !== undefined) return given;
    const origin = (origins[key] = found ?? { source: 'default', value: fallback });
    return origin.value;
  };
  const file = explicit.spanGroupsFile === undefined ? read('SPAN_GROUPS_FILE') : undefined;
  if (file !== undefined) origins.spanGroupsFile = file;
  const spanGroupsFile = explicit.spanGroupsFile ?? file?.value;
  const { serviceName: given } = explicit;
  const serviceName = typeof given === 'string' ? given.trim() : given;
  const isEnabled = read('ENABLED');
  if (explicit.enabled === undefined) origins.enabled = isEnabled ?? { source: 'default', value: 'false' };
  return Object.freeze({
    enabled: explicit.enabled ?? booleanFrom(isEnabled, false),
    spanGroups: traced('spanGroups', read('SPAN_GROUPS'), 'default'),
    ...(spanGroupsFile ? { spanGroupsFile } : {}),
    exporter: explicit.exporter ?? wordFrom(read('EXPORTER'), EXPORTERS, 'otlp'),
    clientErrors: explicit.clientErrors ?? wordFrom(read('CLIENT_ERRORS'), CLIENT_ERRORS, 'unset'),
    tracesEnabled: explicit.tracesEnabled ?? booleanFrom(read('TRACES_ENABLED'), true),
    metricsEnabled: explicit.metricsEnabled ?? booleanFrom(read('METRICS_ENABLED'), true),
    instrumentationGroups:
      explicit.instrumentationGroups ?? booleanFrom(read('INSTRUMENTATION_GROUPS'), false),
    runId: traced('runId', read('RUN_ID'), randomBytes(4).toString('hex')),
    userId: traced('userId', read('USER_ID'), ''),
    ...(serviceName === undefined || serviceName === '' ? {} : { serviceName }),
    origins: Object.freeze(origins),
  });
}

/**
 * Reads the configuration from the environment, now. For each key the value is that of `<prefix>_<KEY>`, else that of
 * `<fallbackPrefix>_<KEY>`, else the default; blanks around it are ignored, and an empty variable counts as unset.
 *
 * Keys: `ENABLED`, `SPAN_GROUPS`, `SPAN_GROUPS_FILE`, `EXPORTER`, `TRACES_ENABLED`, `METRICS_ENABLED`,
 * `INSTRUMENTATION_GROUPS`, `CLIENT_ERRORS`, `RUN_ID`, `USER_ID`. Booleans are 1/0, true/false, yes/no, on/off, in any case.
 * The SDK reads the standard `OTEL_*` variables; they are not read here.
 *
 * @param options `prefix` (default `NEST_LENS`), `fallbackPrefix` (default `NEMO_LENS`), `env` (default `process.env`)
 * @returns a frozen config
 * @throws ConfigError naming the variable that held a bad value, the value, and what is allowed; TypeError for options of a
 * wrong type
 *
 * @example
 * const handle = await setupTelemetry(nestLensConfigFromEnv({ prefix: 'WORKER' }));
 */
export function nestLensConfigFromEnv(options: EnvOptions = {}): NestLensConfig {
  checkEnvOptions('nestLensConfigFromEnv: options', options);
  return resolveConfig({}, options);
}
