import type { InstrumentationLike } from '../telemetry/setup-options.js';
import { emitWarnings } from '../diagnostics/warnings.js';

const ALL_IN_ONE = '@opentelemetry/auto-instrumentations-node';

const PREFIX = '@opentelemetry/instrumentation-';

/** The packages to look for if `@opentelemetry/auto-instrumentations-node` isn't installed. */
const KNOWN = [
  ...[
    'http',
    'undici',
    'express',
    'nestjs-core',
    'graphql',
    'grpc',
    'pg',
    'mysql',
    'mysql2',
    'mongodb',
    'mongoose',
    'redis',
    'ioredis',
    'knex',
    'amqplib',
    'kafkajs',
    'socket.io',
    'dataloader',
    'aws-sdk',
    'pino',
    'winston',
  ].map((name) => `${PREFIX}${name}`),
  '@fastify/otel',
];

/** Fastify's instrumentation does nothing without this option; the others don't know it. */
const OPTIONS = { registerOnInitialization: true };

/** The instrumentations that were found, and the folder of one of them. */
export interface InstalledInstrumentations {
  readonly instrumentations: InstrumentationLike[];
  readonly foundIn: string | undefined;
}

type Load = (specifier: string) => unknown;

/**
 * The names in a variable of `@opentelemetry/auto-instrumentations-node`, which leaves out the common beginning of package
 * names.
 */
function listedIn(variable: string): string[] {
  const names = process.env[variable]?.split(',').map((name) => name.trim()) ?? [];
  return names.filter((name) => name !== '');
}

/** Whether the variables of the package with all instrumentations allow this one. */
function isSelected(name: string): boolean {
  const shortName = name === '@fastify/otel' ? 'fastify' : name.slice(PREFIX.length);
  const enabled = listedIn('OTEL_NODE_ENABLED_INSTRUMENTATIONS');
  if (enabled.length > 0 && !enabled.includes(shortName)) return false;
  return !listedIn('OTEL_NODE_DISABLED_INSTRUMENTATIONS').includes(shortName);
}

/**
 * Makes the installed instrumentations: those of `@opentelemetry/auto-instrumentations-node`, or else each known one that is
 * installed. `OTEL_NODE_ENABLED_INSTRUMENTATIONS` and `OTEL_NODE_DISABLED_INSTRUMENTATIONS` choose among them in both cases.
 * If one fails, a warning says so and the others go on.
 */
export function installedInstrumentations(
  load: Load,
  resolve: (specifier: string) => string | undefined,
): InstalledInstrumentations {
  const allInOne = resolve(ALL_IN_ONE);
  if (allInOne !== undefined) {
    const instrumentations = attempt(ALL_IN_ONE, () => {
      const { getNodeAutoInstrumentations } = load(ALL_IN_ONE) as {
        getNodeAutoInstrumentations(this: void): InstrumentationLike[];
      };
      return getNodeAutoInstrumentations();
    });
    if (instrumentations !== undefined) return { instrumentations, foundIn: allInOne };
  }
  const found: InstrumentationLike[] = [];
  let foundIn: string | undefined;
  for (const name of KNOWN.filter(isSelected)) {
    const file = resolve(name);
    if (file === undefined) continue;
    const made = attempt(name, () => makeInstrumentations(load(name)));
    if (made === undefined) continue;
    found.push(...made);
    foundIn ??= file;
  }
  return { instrumentations: found, foundIn };
}

function attempt<T>(instrumentation: string, make: () => T): T | undefined {
  try {
    return make();
  } catch (error) {
    emitWarnings([{ code: 'INSTRUMENTATION_FAILED', details: { instrumentation, error } }]);
    return undefined;
  }
}

type InstrumentationClass = new (options: object) => InstrumentationLike;

/** A package exports its instrumentation as a class `<What>Instrumentation`, under one name or several. */
function makeInstrumentations(exported: unknown): InstrumentationLike[] {
  const classes = Object.entries(exported as Record<string, unknown>).filter(
    ([name, value]) =>
      /.Instrumentation$/.test(name) &&
      typeof value === 'function' &&
      typeof (value.prototype as Partial<InstrumentationLike> | undefined)?.enable === 'function',
  );
  return [...new Set(classes.map(([, value]) => value as InstrumentationClass))].map(
    (Instrumentation) => new Instrumentation(OPTIONS),
  );
}
