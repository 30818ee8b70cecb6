import { afterEach, beforeEach } from '@jest/globals';

const OURS = /^(OTEL|NEST_LENS|NEMO_LENS)_/;
const set = new Set<string>();
let saved: NodeJS.ProcessEnv;

beforeEach(() => {
  saved = { ...process.env };
  set.clear();
});

afterEach(() => {
  for (const name of Object.keys(process.env)) if (!(name in saved)) delete process.env[name];
  Object.assign(process.env, saved);
});

/** Sets variables of OpenTelemetry and NestLens for the rest of the test: these and no others. */
export function setEnvironment(variables: Readonly<Record<string, string>> = {}): void {
  for (const name of Object.keys(process.env)) if (OURS.test(name)) delete process.env[name];
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
