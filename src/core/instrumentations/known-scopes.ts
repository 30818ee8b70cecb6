/**
 * What a scope's spans are, which decides which groups it has and which presets they are in:
 *
 * - `rpc`, `messaging`, `cloud`: it works in both directions, which are groups of their own
 * - `graphql`: its spans for each field are a group of their own
 * - `incoming`: what comes into the process
 * - `step`: the steps of a request
 * - `database`, `cache`: a client that is asked many times a request
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

/** The role of a scope, by the name that {@link groupNameOfScope} gives it; undefined for one that nobody knows here. */
export function knownRole(base: string): ScopeRole | undefined {
  return ROLES.get(base);
}

/** Whether a group's name is one that a known scope has, in this process or in another one. */
export function isKnownGroup(name: string): boolean {
  return ROLES.has(name) || ROLES.has(name.replace(/_(server|client|consumer|producer|resolve)$/, ''));
}
