/** The beginnings of the names of OpenTelemetry's own instrumentation packages. */
export const OPENTELEMETRY_PREFIX = '@opentelemetry/instrumentation-';

/** Words in package names that don't name the instrumented library: `@fastify/otel` is about Fastify. */
const WORDS_WITHOUT_SUBJECT: ReadonlySet<string> = new Set(['instrumentation', 'otel', 'opentelemetry']);

/** Names with another meaning in a spec: the wildcard, and the presets of instrumentations. */
const TAKEN: ReadonlySet<string> = new Set(['all', 'default', 'per_request', 'databases', 'caches']);

const UNNAMED = 'unnamed';

/** Whether a name has another meaning in a spec. */
export function isTaken(name: string): boolean {
  return TAKEN.has(name);
}

/** A text as a group name in lowercase snake_case, e.g. `Socket.IO` as `socket_io`; '' if nothing is left of it. */
export function snakeCase(text: string): string {
  return text
    .replace(/([a-z0-9])([A-Z])|([A-Z])(?=[A-Z][a-z])/g, '$1$3_$2')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '_')
    .replace(/^_|_$/g, '');
}

/**
 * The name of the span group of an instrumentation scope.
 *
 * `@opentelemetry/instrumentation-pg` is `pg`. For other packages it is the name without the npm scope and the word
 * `instrumentation`. If nothing is left (`@prisma/instrumentation`, `@fastify/otel`), it is the npm scope.
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
