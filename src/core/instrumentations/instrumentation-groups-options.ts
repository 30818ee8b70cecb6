/** Options of `instrumentationGroups`: how the span groups of instrumentations are called, and in which presets they are. */
export interface InstrumentationGroupsOptions {
  /**
   * What groups are called, by the name of the instrumentation scope: `{ 'my-lib/tracing': 'my_lib' }`. Two scopes with one
   * name share their groups; `false` leaves a scope alone, so that its spans flow whatever the spec says.
   *
   * @defaultValue `@opentelemetry/instrumentation-pg` is `pg`, `@prisma/instrumentation` is `prisma`, and so on
   */
  names?: Readonly<Record<string, string | false>>;
  /**
   * Members of presets, each of which replaces the preset of that name. A scope with two groups may be named by its bare
   * name: `{ default: ['http', 'pg'] }`.
   *
   * @defaultValue `default`: what comes into the process; `per_request`: that and the steps of a request; `databases`; `caches`
   */
  presets?: Readonly<Record<string, Iterable<string>>>;
}
