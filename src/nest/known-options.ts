import { argumentError } from '../core/diagnostics/argument-error.js';
import { quote } from '../core/diagnostics/quote-details.js';
import { nearestName } from '../core/groups/nearest-name.js';
import type { NestLensConfig } from '../core/telemetry/config.js';
import { SETUP_OPTIONS } from '../core/telemetry/check-setup-options.js';
import { REQUEST_OPT_IN_KEYS } from '../core/opt-in/request-opt-in-options.js';
import { INTROSPECTION_KEYS } from './introspection/introspection-options.js';
import { RUNTIME_CONTROL_KEYS } from './introspection/runtime-control-options.js';
import type { NestLensModuleAsyncOptions, NestLensModuleOptions } from './nest-lens-options.js';

const OPTIONS = {
  registrations: true,
  config: true,
  env: true,
  telemetry: true,
  instrumentationGroups: true,
  specSource: true,
  requestOptIn: true,
  autoGroups: true,
  setupAt: true,
  shutdownTimeoutMs: true,
  clientErrors: true,
  isError: true,
  introspection: true,
} satisfies Record<keyof NestLensModuleOptions, true>;

const ASYNC_OPTIONS = {
  imports: true,
  inject: true,
  useFactory: true,
  useClass: true,
  useExisting: true,
  introspection: true,
} satisfies Record<keyof NestLensModuleAsyncOptions, true>;

const CONFIG = {
  enabled: true,
  spanGroups: true,
  spanGroupsFile: true,
  exporter: true,
  tracesEnabled: true,
  metricsEnabled: true,
  clientErrors: true,
  runId: true,
  userId: true,
  instrumentationGroups: true,
  serviceName: true,
  origins: true,
} satisfies Record<keyof NestLensConfig, true>;

interface Place {
  /** The place in words, after a key; empty for the place of the option itself. */
  readonly name: string;
  readonly keys: object;
}

const RETURNED = 'in what the factory returns';
const BESIDE = 'beside the factory';

/** The places where options can be given; the place being checked comes first. */
const PLACES = {
  'NestLensModule.forRoot': [
    { name: '', keys: OPTIONS },
    { name: 'under introspection', keys: INTROSPECTION_KEYS },
    { name: 'under config', keys: CONFIG },
    { name: 'under telemetry', keys: SETUP_OPTIONS },
    { name: 'under introspection.runtimeControl', keys: RUNTIME_CONTROL_KEYS },
    { name: 'under requestOptIn', keys: REQUEST_OPT_IN_KEYS },
  ],
  'NestLensModule.forRootAsync': [
    { name: '', keys: ASYNC_OPTIONS },
    { name: 'under introspection', keys: INTROSPECTION_KEYS },
    { name: RETURNED, keys: OPTIONS },
    { name: `under config, ${RETURNED}`, keys: CONFIG },
    { name: `under telemetry, ${RETURNED}`, keys: SETUP_OPTIONS },
    { name: 'under introspection.runtimeControl', keys: RUNTIME_CONTROL_KEYS },
    { name: `under requestOptIn, ${RETURNED}`, keys: REQUEST_OPT_IN_KEYS },
  ],
  'The factory of NestLensModule.forRootAsync': [
    { name: '', keys: OPTIONS },
    { name: `under introspection, ${BESIDE}`, keys: INTROSPECTION_KEYS },
    { name: 'under config', keys: CONFIG },
    { name: 'under telemetry', keys: SETUP_OPTIONS },
    { name: 'under requestOptIn', keys: REQUEST_OPT_IN_KEYS },
    { name: BESIDE, keys: ASYNC_OPTIONS },
  ],
} satisfies Record<string, readonly Place[]>;

/**
 * Stops the start for an unknown option. Without this, guards in the wrong place would leave the endpoint open to everybody.
 *
 * @param from the function that got the options
 * @throws TypeError for options that aren't an object, and for an unknown key
 */
export function requireKnownOptions(from: keyof typeof PLACES, given: unknown): void {
  if (typeof given !== 'object' || given === null || Array.isArray(given)) {
    throw argumentError(`${from}: options`, 'an object', given);
  }
  const places: readonly Place[] = PLACES[from];
  const known = places[0]!.keys;
  const unknown = Object.keys(given).find((key) => !Object.hasOwn(known, key));
  if (unknown === undefined) return;
  throw new TypeError(
    `${from}: unknown option '${quote(unknown)}'. ${advice(unknown, places)}` +
      `Known options: ${Object.keys(known).join(', ')}.`,
  );
}

function advice(unknown: string, places: readonly Place[]): string {
  const home = places.find(({ keys }) => Object.hasOwn(keys, unknown));
  if (home !== undefined) return `It belongs ${home.name}. `;
  for (const { name, keys } of places) {
    const near = nearestOption(unknown, Object.keys(keys));
    if (near !== undefined) return `Did you mean '${near}'${name === '' ? '' : `, ${name}`}? `;
  }
  return '';
}

/** Also finds an option that was shortened, or has extra letters: `introspect`. */
function nearestOption(unknown: string, known: readonly string[]): string | undefined {
  const isStart = (key: string): boolean => key.startsWith(unknown) || unknown.startsWith(key);
  return nearestName(unknown, known) ?? (unknown.length > 2 ? known.find(isStart) : undefined);
}
