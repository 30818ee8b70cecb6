import { metrics } from '@opentelemetry/api';
import type { NestLensConfig } from './config.js';
import { areMetricsAskedFor } from './lens-metrics.js';
import type { SetupOptions } from './setup-options.js';

/** Exports what a provider holds, if it has a method for that. If it throws, this rejects, so that other flushes go on. */
export async function flushProvider(provider: unknown): Promise<void> {
  await (provider as { forceFlush?(): Promise<void> } | undefined)?.forceFlush?.();
}

/** Exports the metrics of the registered meter provider. */
export async function flushMeters({ metricsEnabled }: NestLensConfig): Promise<void> {
  if (metricsEnabled) await flushProvider(metrics.getMeterProvider());
}

/** The same for the meter provider of the application. One that has no metrics of NestLens must not hold up a close. */
export async function flushMetersOfApplication(config: NestLensConfig, options: SetupOptions): Promise<void> {
  if (areMetricsAskedFor(options)) await flushMeters(config);
}
