import { randomBytes } from 'node:crypto';
import { ConfigError, createError } from '../diagnostics/errors.js';
import { processState } from '../state/process-state.js';

/** Where spans go when the application names no exporter of its own. */
export type ExporterName = 'otlp' | 'console' | 'none';

/** What `setupTelemetry` is to do. `nestLensConfigFromEnv` makes one from the environment. */
export interface NestLensConfig {
  /** Off: no provider is built, no SDK package loaded, every group stays off. @defaultValue false */
  enabled: boolean;
  /** The spec: which groups emit, e.g. `per_request,payment`. @defaultValue 'default' */
  spanGroups: string;
  /**
   * `otlp`: the SDK decides by its own `OTEL_*` variables; `console`: one compact JSON line a span; `none`: spans are made
   * and propagated, but not exported. @defaultValue 'otlp'
   */
  exporter: ExporterName;
  /** Off: no tracer provider. @defaultValue true */
  tracesEnabled: boolean;
  /** Off: no meter provider. @defaultValue true */
  metricsEnabled: boolean;
  /** Resource attribute `nestlens.run_id`: tells the runs of one service apart. @defaultValue eight random hex digits */
  runId: string;
  /** Resource attribute `nestlens.user_id`, left out when empty. @defaultValue '' */
  userId: string;
  /** Resource attribute `service.name`. Unset: the SDK's business (`OTEL_SERVICE_NAME`, `OTEL_RESOURCE_ATTRIBUTES`). */
  serviceName?: string;
}

const EXPORTERS: readonly ExporterName[] = ['otlp', 'console', 'none'];
const BOOLEANS: ReadonlyMap<string, boolean> = new Map([
  ['1', true],
  ['true', true],
  ['yes', true],
  ['on', true],
  ['0', false],
  ['false', false],
  ['no', false],
  ['off', false],
]);

/** Which variables are read, and from where. */
export interface EnvOptions {
  /** What the names of the variables begin with: `<prefix>_<KEY>`, without the underscore. @defaultValue 'NEST_LENS' */
  prefix?: string;
  /** Read for each key whose variable is unset or empty. @defaultValue 'NEMO_LENS' */
  fallbackPrefix?: string;
  /** The variables. @defaultValue `process.env`, read when the call is made */
  env?: Readonly<Record<string, string | undefined>>;
}

interface Found {
  /** The name of the variable that held the value. */
  readonly variable: string;
  readonly value: string;
}

function createReader({ prefix = 'NEST_LENS', fallbackPrefix = 'NEMO_LENS', env = process.env }: EnvOptions) {
  return (key: string): Found | undefined => {
    for (const variable of [`${prefix}_${key}`, `${fallbackPrefix}_${key}`]) {
      const value = env[variable]?.trim();
      if (value) return { variable, value };
    }
    return undefined;
  };
}

function booleanFrom(found: Found | undefined, fallback: boolean): boolean {
  if (found === undefined) return fallback;
  const value = BOOLEANS.get(found.value.toLowerCase());
  if (value === undefined) {
    throw createError(ConfigError, 'INVALID_VALUE', {
      source: found.variable,
      value: found.value,
      allowed: [...BOOLEANS.keys()],
    });
  }
  return value;
}

function exporterFrom(found: Found | undefined): ExporterName {
  if (found === undefined) return 'otlp';
  return checkExporter(found.value.toLowerCase(), found.variable, found.value);
}

function checkExporter(exporter: string, source: string, value = exporter): ExporterName {
  const known = EXPORTERS.find((name) => name === exporter);
  if (known === undefined) {
    throw createError(ConfigError, 'INVALID_VALUE', { source, value: String(value), allowed: EXPORTERS });
  }
  return known;
}

const specSources = new WeakMap<NestLensConfig, string>();

/** The origin of a config's spec; a config that an application wrote by hand is `options`. */
export function specSourceOf(config: NestLensConfig): string {
  return specSources.get(config) ?? 'options';
}

/**
 * Merges explicit options over the environment, key by key, and validates the result.
 *
 * A key that is set explicitly is not read from the environment, so a bad variable behind it does no harm.
 */
export function resolveConfig(
  explicit: Partial<NestLensConfig>,
  envOptions: EnvOptions = {},
): NestLensConfig {
  const read = createReader(envOptions);
  const spec = explicit.spanGroups === undefined ? read('SPAN_GROUPS') : undefined;
  const serviceName = explicit.serviceName?.trim();
  const config = validateConfig({
    enabled: explicit.enabled ?? booleanFrom(read('ENABLED'), false),
    spanGroups: explicit.spanGroups ?? spec?.value ?? 'default',
    exporter: explicit.exporter ?? exporterFrom(read('EXPORTER')),
    tracesEnabled: explicit.tracesEnabled ?? booleanFrom(read('TRACES_ENABLED'), true),
    metricsEnabled: explicit.metricsEnabled ?? booleanFrom(read('METRICS_ENABLED'), true),
    // An SDK that was started early and waits to be taken over has one on its resource.
    runId:
      explicit.runId ?? read('RUN_ID')?.value ?? processState.early?.runId ?? randomBytes(4).toString('hex'),
    userId: explicit.userId ?? read('USER_ID')?.value ?? '',
    ...(serviceName ? { serviceName } : {}),
  });
  specSources.set(config, explicit.spanGroups === undefined ? (spec?.variable ?? 'default') : 'options');
  return config;
}

/** Checks what the compiler can't where a config comes from JavaScript; a copy, frozen. Throws `ConfigError`. */
export function validateConfig(config: NestLensConfig): NestLensConfig {
  checkExporter(config.exporter, 'exporter');
  for (const key of ['enabled', 'tracesEnabled', 'metricsEnabled'] as const) {
    if (typeof config[key] !== 'boolean') {
      throw createError(ConfigError, 'INVALID_VALUE', {
        source: key,
        value: String(config[key]),
        allowed: ['true', 'false'],
      });
    }
  }
  const validated = Object.freeze({ ...config });
  const source = specSources.get(config);
  if (source !== undefined) specSources.set(validated, source);
  return validated;
}

/**
 * Reads the configuration from the environment, now. For each key the value is that of `<prefix>_<KEY>`, else that of
 * `<fallbackPrefix>_<KEY>`, else the default; blanks around it are ignored, and an empty variable counts as unset.
 *
 * Keys: `ENABLED`, `SPAN_GROUPS`, `EXPORTER`, `TRACES_ENABLED`, `METRICS_ENABLED`, `RUN_ID`, `USER_ID`. Booleans are
 * 1/0, true/false, yes/no, on/off, in any case. The standard `OTEL_*` variables are the SDK's, and not read here.
 *
 * @param options `prefix` (default `NEST_LENS`), `fallbackPrefix` (default `NEMO_LENS`), `env` (default `process.env`)
 * @returns a frozen config
 * @throws ConfigError naming the variable that held a bad value, the value, and what is allowed
 *
 * @example
 * const handle = await setupTelemetry(nestLensConfigFromEnv({ prefix: 'WORKER' }));
 */
export function nestLensConfigFromEnv(options: EnvOptions = {}): NestLensConfig {
  return resolveConfig({}, options);
}

/** `OTEL_SDK_DISABLED`, read by the SDK's own rule: only `true` counts, in any case, blanks ignored. */
export function isSdkDisabled(env: Readonly<Record<string, string | undefined>> = process.env): boolean {
  return env['OTEL_SDK_DISABLED']?.trim().toLowerCase() === 'true';
}
