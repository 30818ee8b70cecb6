const OURS = /^(OTEL|NEST_LENS|NEMO_LENS)_/;

/** Removes the variables of OpenTelemetry and NestLens that the machine has, until the end of the test. */
export function removeTelemetryVariables(): void {
  for (const name of Object.keys(process.env)) if (OURS.test(name)) delete process.env[name];
}
