import { type Context, createContextKey } from '@opentelemetry/api';

const OPTED_IN_GROUPS = createContextKey('nest-lens opted-in groups');

/** The groups that a request has turned on for itself, whatever the spec says: in this context and in those derived from it. */
export function optedInGroups(context: Context): ReadonlySet<string> | undefined {
  return context.getValue(OPTED_IN_GROUPS) as ReadonlySet<string> | undefined;
}

/** A context in which these groups are on. The caller holds their gates open as long as the context is in use. */
export function withOptedInGroups(context: Context, groups: ReadonlySet<string>): Context {
  return context.setValue(OPTED_IN_GROUPS, groups);
}
