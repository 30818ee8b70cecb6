/** The endings of the groups of a scope that works in several directions. */
export type Direction = 'server' | 'client' | 'consumer' | 'producer';

/**
 * The directions that a span can have, the most fitting first, by the number of its kind: INTERNAL, SERVER, CLIENT, PRODUCER,
 * CONSUMER. A messaging client's span fetches messages, so it counts as a consumer's.
 */
const DIRECTIONS_OF_KIND: readonly (readonly Direction[])[] = [
  ['client', 'producer'],
  ['server', 'consumer'],
  ['client', 'consumer'],
  ['producer', 'client'],
  ['consumer', 'server'],
];

/** The direction of a span of this kind, if its scope has groups for these directions. */
export function directionOfKind(kind: number, directions: readonly string[]): Direction | undefined {
  return DIRECTIONS_OF_KIND[kind]?.find((direction) => directions.includes(direction));
}

/** The ending of the group of instrumentation-graphql's spans for fields. */
export const FIELD_ENDING = 'resolve';

/** Whether a span is one of instrumentation-graphql's for a field. A tracer takes a name of any type. */
export function isFieldSpan(name: unknown): boolean {
  return typeof name === 'string' && name.startsWith('graphql.resolve');
}
