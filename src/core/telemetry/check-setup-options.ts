import { argumentError } from '../diagnostics/argument-error.js';
import { readRequestOptIn } from '../opt-in/request-opt-in-options.js';
import { checkSpecSource } from '../sources/span-group-spec-source.js';
import type { SetupOptions } from './setup-options.js';

/** Throws for a value of a wrong type. */
type Check = (what: string, given: unknown) => void;

const isFunction = (given: unknown): boolean => typeof given === 'function';
const isObject = (given: unknown): given is Readonly<Record<string, unknown>> =>
  typeof given === 'object' && given !== null && !Array.isArray(given);

function wanted(what: string, isRight: (given: unknown) => boolean): Check {
  return (option, given) => {
    if (!isRight(given)) throw argumentError(option, what, given);
  };
}

function withMethods(what: string, ...methods: readonly string[]): Check {
  const names = methods.map((method) => `${method}()`).join(', ');
  return wanted(
    `${what} with the methods ${names}`,
    (given) => isObject(given) && methods.every((method) => isFunction(given[method])),
  );
}

function listOf(what: string, check: Check): Check {
  return (option, given) => {
    if (!Array.isArray(given)) throw argumentError(option, `an array of ${what}`, given);
    for (const [at, item] of given.entries()) check(`${option}[${at}]`, item);
  };
}

const checkInstrumentation = withMethods('an instrumentation', 'enable', 'disable');
const checkInstrumentations = listOf('instrumentations', checkInstrumentation);

/** The type of each option of `setupTelemetry`. */
const CHECKS: Readonly<Record<keyof SetupOptions, Check>> = {
  spanExporter: withMethods('an exporter', 'export', 'shutdown'),
  spanProcessors: listOf(
    'span processors',
    withMethods('a span processor', 'onStart', 'onEnd', 'forceFlush', 'shutdown'),
  ),
  metricReader: withMethods('a metric reader', 'collect', 'forceFlush', 'shutdown'),
  instrumentations: listOf('instrumentations', (option, given) =>
    (Array.isArray(given) ? checkInstrumentations : checkInstrumentation)(option, given),
  ),
  resourceAttributes: wanted(
    'an object of values by name',
    (given) => isObject(given) && !(Symbol.iterator in given),
  ),
  mode: wanted("'own' or 'attach'", (given) => given === 'own' || given === 'attach'),
  isError: wanted('a function of the thrown value', isFunction),
  // Invalid parts give a warning and are left out; see `checked-options`.
  instrumentationGroups: () => undefined,
  specSource: checkSpecSource,
  requestOptIn: (_, given) => void readRequestOptIn(given),
};

/** The name of each option of `setupTelemetry`. */
export const SETUP_OPTIONS: Readonly<Record<keyof SetupOptions, unknown>> = CHECKS;

/**
 * Checks the options of a set-up before anything is changed. Otherwise a wrong value would fail later: in the middle of the
 * start, at the first span or at the close. With a misspelt option the spans would go to another exporter.
 *
 * @param what the place of the options, e.g. `setupTelemetry: options`
 * @throws TypeError for a value of a wrong type, and for a key that isn't known
 */
export function checkSetupOptions(what: string, given: unknown): void {
  if (!isObject(given)) throw argumentError(what, 'an object', given);
  for (const [option, value] of Object.entries(given)) {
    if (!Object.hasOwn(CHECKS, option)) {
      throw argumentError(`${what}: a key`, `one of ${Object.keys(CHECKS).join(', ')}`, option);
    }
    if (value !== undefined) CHECKS[option as keyof SetupOptions](`${what}.${option}`, value);
  }
}
