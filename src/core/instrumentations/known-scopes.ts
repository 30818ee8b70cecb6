import { groupNameOfScope, OPENTELEMETRY_PREFIX, snakeCase } from './scope-group-name.js';

/**
 * The kind of spans of a scope. It decides the groups of the scope and their presets:
 *
 * - `rpc`, `messaging`, `cloud`: it works in both directions, and each direction is a group
 * - `graphql`: its spans for fields are a second group
 * - `incoming`: spans of requests and messages that come into the process
 * - `step`: the steps of a request
 * - `database`, `cache`: a client that is called many times a request
 */
export type ScopeRole =
  'rpc' | 'messaging' | 'cloud' | 'graphql' | 'incoming' | 'step' | 'database' | 'cache';

const BASES_OF_ROLE: Readonly<Record<ScopeRole, readonly string[]>> = {
  rpc: ['http', 'grpc'],
  messaging: ['amqplib', 'kafkajs', 'socket_io'],
  cloud: ['aws_sdk'],
  graphql: ['graphql'],
  incoming: ['aws_lambda'],
  step: ['connect', 'express', 'fastify', 'hapi', 'koa', 'nestjs_core', 'restify', 'router', 'undici'],
  database: [
    'cassandra_driver',
    'knex',
    'mongodb',
    'mongoose',
    'mysql',
    'mysql2',
    'oracledb',
    'pg',
    'prisma',
    'sequelize',
    'tedious',
    'typeorm',
  ],
  cache: ['ioredis', 'memcached', 'redis', 'redis_4'],
};

const ROLES: ReadonlyMap<string, ScopeRole> = new Map(
  Object.entries(BASES_OF_ROLE).flatMap(([role, bases]) => bases.map((base) => [base, role as ScopeRole])),
);

/** The role of a scope, by the name that {@link groupNameOfScope} gives it; undefined for unknown scopes. */
export function knownRole(base: string): ScopeRole | undefined {
  return ROLES.get(base);
}

/** OpenTelemetry's own instrumentations that have no role: their groups are in no preset. */
const WITHOUT_ROLE: ReadonlySet<string> = new Set([
  'cucumber',
  'dataloader',
  'dns',
  'fs',
  'generic_pool',
  'lru_memoizer',
  'net',
  'openai',
]);

/** Scope -> the package of its instrumentation, where their names differ. */
const PACKAGES: ReadonlyMap<string, string> = new Map([['prisma', '@prisma/instrumentation']]);

/** The package of a known instrumentation, which is mostly called like its scope. */
export function packageOfScope(scope: string): string {
  return PACKAGES.get(scope) ?? scope;
}

/** Packages of others whose scopes are known. */
const OF_OTHERS: ReadonlySet<string> = new Set(['@fastify/otel', '@prisma/instrumentation']);

/**
 * Whether this is the name of a known instrumentation's scope, or the default name of its group. `@acme/pg` is neither, though it
 * would be called `pg` too.
 */
export function isNameOfKnownScope(name: string): boolean {
  const isPackage = OF_OTHERS.has(name) || name.startsWith(OPENTELEMETRY_PREFIX);
  return isKnownScope(isPackage ? groupNameOfScope(name) : snakeCase(name));
}

/** Whether a scope of this default name is known, in this process or in another one. */
export function isKnownScope(base: string): boolean {
  return ROLES.has(base) || WITHOUT_ROLE.has(base);
}

/** Whether a known scope has a group of this name, in this process or in another one. */
export function isKnownGroup(name: string): boolean {
  return isKnownScope(name) || isKnownScope(withoutDirection(name));
}

/** The name of the scope whose group this is: `http` for `http_server`. */
export function withoutDirection(group: string): string {
  return group.replace(/_(server|client|consumer|producer|resolve)$/, '');
}
