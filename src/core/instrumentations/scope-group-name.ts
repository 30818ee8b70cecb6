/** What the packages of OpenTelemetry's own instrumentations are called, before what they instrument. */
const OPENTELEMETRY_PREFIX = '@opentelemetry/instrumentation-';

/** Words of a package's name that say what it is for, but not what it instruments: `@fastify/otel` is about Fastify. */
const WORDS_WITHOUT_SUBJECT: ReadonlySet<string> = new Set(['instrumentation', 'otel', 'opentelemetry']);

/** Names that mean something else in a spec: the wildcard, and the presets of instrumentations. */
const TAKEN: ReadonlySet<string> = new Set(['all', 'default', 'per_request', 'databases', 'caches']);

const UNNAMED = 'unnamed';

/** Whether a name means something else in a spec than a group of an instrumentation. */
export function isTaken(name: string): boolean {
  return TAKEN.has(name);
}

/** Any text as a group name in lowercase snake_case, e.g. `Socket.IO` as `socket_io`; '' where nothing is left of it. */
export function snakeCase(text: string): string {
  return text
    .replace(/([a-z0-9])([A-Z])|([A-Z])(?=[A-Z][a-z])/g, '$1$3_$2')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '_')
    .replace(/^_|_$/g, '');
}

/**
 * The name of the span group that an instrumentation scope is in.
 *
 * `@opentelemetry/instrumentation-pg` is `pg`. Of any other package it is the name without its npm scope and the word
 * `instrumentation`; where nothing else is left (`@prisma/instrumentation`, `@fastify/otel`) it is the npm scope.
 */
export function groupNameOfScope(scope: string): string {
  const name = scope.startsWith(OPENTELEMETRY_PREFIX)
    ? snakeCase(scope.slice(OPENTELEMETRY_PREFIX.length))
    : nameOfPackage(scope);
  if (name === '') return UNNAMED;
  return isTaken(name) ? `${name}_spans` : name;
}

function nameOfPackage(scope: string): string {
  const [, npmScope, packageName] = /^(?:@([^/]+)\/)?(.*)$/s.exec(scope)!;
  const words = snakeCase(packageName!).split('_');
  if (npmScope !== undefined && words.every((word) => WORDS_WITHOUT_SUBJECT.has(word))) {
    return snakeCase(npmScope);
  }
  return words.filter((word) => word !== 'instrumentation').join('_');
}
