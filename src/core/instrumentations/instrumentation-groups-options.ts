/** Options of `instrumentationGroups`: the names of the groups of instrumentations, and their presets. */
export interface InstrumentationGroupsOptions {
  /**
   * Names of groups, by the name of the instrumentation scope: `{ 'my-lib/tracing': 'my_lib' }`. Two scopes with one name
   * share their groups; `false` leaves a scope alone, so that its spans flow whatever the spec says.
   *
   * @defaultValue `@opentelemetry/instrumentation-pg` is `pg`, `@prisma/instrumentation` is `prisma`, and so on
   */
  names?: Readonly<Record<string, string | false>>;
  /**
   * Members of presets. Each entry replaces the preset of that name. The bare name of a scope stands for all of its groups:
   * `{ default: ['http', 'pg'] }`.
   *
   * @defaultValue `default` has the incoming spans, `per_request` those and the steps of a request; `databases`; `caches`
   */
  presets?: Readonly<Record<string, Iterable<string>>>;
}
