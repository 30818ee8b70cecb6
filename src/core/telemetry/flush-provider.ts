import { metrics } from '@opentelemetry/api';
import type { NestLensConfig } from './config.js';

/** Exports what a provider holds, if it has a method for that. If it throws, this rejects, so that other flushes go on. */
export async function flushProvider(provider: unknown): Promise<void> {
  await (provider as { forceFlush?(): Promise<void> } | undefined)?.forceFlush?.();
}

/** Exports the metrics of the registered meter provider, whoever made it, because those of NestLens are among them. */
export async function flushMeters({ metricsEnabled }: NestLensConfig): Promise<void> {
  if (metricsEnabled) await flushProvider(metrics.getMeterProvider());
}
