/** The version of this copy of the package: the instrumentation scope's version. A test compares it with package.json. */
export const VERSION = '0.1.0';
