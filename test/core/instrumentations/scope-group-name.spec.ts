import { describe, expect, it } from 'vitest';
import { groupNameOfScope } from '../../../src/core/instrumentations/scope-group-name.js';

describe('the group of an instrumentation scope', () => {
  it.each([
    // OpenTelemetry's own
    ['@opentelemetry/instrumentation-pg', 'pg'],
    ['@opentelemetry/instrumentation-http', 'http'],
    ['@opentelemetry/instrumentation-nestjs-core', 'nestjs_core'],
    ['@opentelemetry/instrumentation-ioredis', 'ioredis'],
    ['@opentelemetry/instrumentation-redis-4', 'redis_4'],
    ['@opentelemetry/instrumentation-socket.io', 'socket_io'],
    ['@opentelemetry/instrumentation-cassandra-driver', 'cassandra_driver'],
    // Packages of others: without npm scope and `instrumentation`
    ['@prisma/instrumentation', 'prisma'],
    ['prisma', 'prisma'],
    ['@fastify/otel', 'fastify'],
    ['@acme/instrumentation-orders', 'orders'],
    ['@acme/orders-instrumentation', 'orders'],
    ['@acme/orders', 'orders'],
    ['opentelemetry-instrumentation-kafka-node', 'opentelemetry_kafka_node'],
    ['my-lib/tracing', 'my_lib_tracing'],
    ['@acme/shop/db', 'shop_db'],
    // Lowercase snake_case, whatever it was
    ['OrdersService', 'orders_service'],
    ['HTTPServer', 'http_server'],
    ['next.js', 'next_js'],
    ['  Blanks around  ', 'blanks_around'],
    ['a--b__c', 'a_b_c'],
    ['io.opentelemetry.contrib.jdbc', 'io_opentelemetry_contrib_jdbc'],
    ['größe', 'gr_e'],
    // Nothing that is a name, or one that means something else in a spec
    ['', 'unnamed'],
    ['instrumentation', 'unnamed'],
    ['***', 'unnamed'],
    ['@opentelemetry/instrumentation-', 'unnamed'],
    ['all', 'all_spans'],
    ['default', 'default_spans'],
    ['@acme/databases', 'databases_spans'],
    ['__proto__', 'proto'],
  ])('of %j is %s', (scope, group) => {
    expect(groupNameOfScope(scope)).toBe(group);
  });
});
