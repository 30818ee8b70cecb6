// #region without-nest
import { defineSpanGroups, managedSpan, nestLensConfigFromEnv, setupTelemetry } from 'nest-lens/core';

const jobs = defineSpanGroups({ namespace: 'jobs', groups: ['job'], presets: { default: ['job'] } });
jobs.register();

export async function run(work: () => Promise<void>) {
  const telemetry = await setupTelemetry(nestLensConfigFromEnv());
  try {
    await managedSpan(jobs.group('job'), 'job.run', work);
  } finally {
    await telemetry.shutdown(); // flushes; waits for 5 seconds at most; never rejects
  }
}
// #endregion
