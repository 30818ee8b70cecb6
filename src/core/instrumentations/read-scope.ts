import type { InstrumentationScope } from '../state/state-shape.js';

/**
 * A scope whose name and version are strings. Code in JavaScript may pass `getTracer` a name of any type, and
 * `getTracer(process.env.npm_package_name)` passes none outside of npm. Such a scope gets the name ''. It never throws.
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
