import { emitWarnings } from '../core/diagnostics/warnings.js';
import { type NestLensConfig, originOf } from '../core/telemetry/config.js';
import type { SetupOptions } from '../core/telemetry/setup-options.js';
import type { NestLensModuleOptions } from './nest-lens-options.js';

/** The telemetry options of an application, or of one `forRoot` of it. */
export interface AskedOfTelemetry {
  readonly config?: Partial<NestLensConfig> | undefined;
  readonly telemetry?: SetupOptions | undefined;
  readonly [option: string]: unknown;
}

/** The telemetry options. All other options count in each application and in each `forRoot`. */
export function askedOf(options: NestLensModuleOptions): AskedOfTelemetry {
  const { registrations: _, introspection: __, ...asked } = options;
  return asked;
}

/** Literals that are nested deeper count as different. */
const MAX_DEPTH = 5;

/**
 * The names of the options that have no effect because another application or `forRoot` was first: `config.spanGroups`,
 * `telemetry.spanExporter`. Options that are left out or equal aren't listed.
 */
function ignoredOptions(asked: AskedOfTelemetry, inForce: AskedOfTelemetry): string[] {
  return Object.entries(asked)
    .flatMap(([option, given]) => {
      if (option !== 'config' && option !== 'telemetry')
        return isSame(given, inForce[option]) ? [] : [option];
      const there = (inForce[option] ?? {}) as Record<string, unknown>;
      const keys = Object.entries(given ?? {}).filter(([key, value]) => !isSame(value, there[key]));
      return keys.map(([key]) => `${option}.${key}`);
    })
    .filter((name) => name !== 'config.origins' && !(name === 'config.runId' && isRandom(asked.config)))
    .sort();
}

/** Each reading of the environment makes a new run id. */
function isRandom(config: Partial<NestLensConfig> = {}): boolean {
  return originOf(config, 'runId') === 'default';
}

function isSame(given: unknown, inForce: unknown, depth = 0): boolean {
  if (given === undefined || Object.is(given, inForce)) return true;
  const there = inForce ?? (Array.isArray(given) ? [] : {});
  if (depth > MAX_DEPTH || !isLiteral(given) || !isLiteral(there)) return false;
  return [...new Set([...Object.keys(given), ...Object.keys(there)])].every((key) =>
    isSame(given[key], there[key], depth + 1),
  );
}

/** An object or array that could stand in source code. Other values, such as an exporter, equal only themselves. */
function isLiteral(value: unknown): value is Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return Array.isArray(value) || prototype === null || Object.getPrototypeOf(prototype) === null;
}

/** Warns about the options that have no effect, if there are any. */
export function warnIgnored(
  reason: 'second app' | 'second forRoot',
  asked: AskedOfTelemetry,
  inForce: AskedOfTelemetry,
): void {
  const options = ignoredOptions(asked, inForce);
  if (options.length > 0) emitWarnings([{ code: 'OPTIONS_IGNORED', details: { reason, options } }]);
}
