import { afterEachTest } from '../support/after-each-test.js';
import { removeTelemetryVariables } from '../support/telemetry-variables.js';

const set = new Set<string>();

afterEachTest(() => set.clear());

/** Sets variables of OpenTelemetry and NestLens for the rest of the test: these and no others. */
export function setEnvironment(variables: Readonly<Record<string, string>> = {}): void {
  removeTelemetryVariables();
  Object.assign(process.env, variables);
  noteVariables(variables);
}

/** Notes variables that the running test gives to a process of its own. */
export function noteVariables(variables: Readonly<Record<string, string>>): void {
  for (const name of Object.keys(variables)) set.add(name);
}

/** The names of all variables that the running test has set so far, here or for another process. */
export function variablesSet(): readonly string[] {
  return [...set];
}
