import { type Context, createContextKey } from '@opentelemetry/api';

const OPTED_IN_GROUPS = createContextKey('nest-lens opted-in groups');

/** The groups that are on in a context, and what it goes out to, whatever the spec says. */
export function optedInGroups(context: Context): ReadonlySet<string> | undefined {
  return context.getValue(OPTED_IN_GROUPS) as ReadonlySet<string> | undefined;
}

/** The context in which these groups are on. Hold their gates open as long as it is in use. */
export function withOptedInGroups(context: Context, groups: ReadonlySet<string>): Context {
  return context.setValue(OPTED_IN_GROUPS, groups);
}
