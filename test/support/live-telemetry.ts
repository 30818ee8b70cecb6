import { afterEachTest } from './after-each-test.js';
import {
  type NestLensConfig,
  nestLensConfigFromEnv,
  type SetupOptions,
  setupTelemetry,
  type TelemetryHandle,
} from 'nest-lens/core';

const live: TelemetryHandle[] = [];

/** A configuration that emits everything, sends nothing anywhere by itself, and reads no variable of the machine. */
export function quietConfig(overrides: Partial<NestLensConfig> = {}): NestLensConfig {
  return {
    ...nestLensConfigFromEnv({ env: {} }),
    enabled: true,
    spanGroups: 'all',
    exporter: 'none',
    metricsEnabled: false,
    ...overrides,
  };
}

/** Sets up telemetry for one test: what the test leaves live is shut down after it. */
export async function setUpForTest(
  overrides: Partial<NestLensConfig> = {},
  options?: SetupOptions,
): Promise<TelemetryHandle> {
  const handle = await setupTelemetry(quietConfig(overrides), options);
  live.push(handle);
  return handle;
}

afterEachTest(async () => {
  for (const handle of live.splice(0)) await handle.shutdown(1_000);
});
