import type { InstrumentationScope } from '../state/state-shape.js';

/**
 * A scope as texts. JavaScript makes a tracer with a name of any type: `getTracer(process.env.npm_package_name)` has none outside
 * of npm. Such a scope has the name ''. It never throws.
 */
export function readScope(given: unknown): InstrumentationScope {
  try {
    const { name, version } = given as { name: unknown; version: unknown };
    return {
      name: typeof name === 'string' ? name : '',
      version: typeof version === 'string' ? version : undefined,
    };
  } catch {
    // There is no scope, or a getter threw.
    return { name: '', version: undefined };
  }
}
