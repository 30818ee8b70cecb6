// Imported as a whole, because webpack 5.113 warns about an import of `createRequire` by name.
import * as nodeModule from 'node:module';
import type { NodeSDKConfiguration } from '@opentelemetry/sdk-node';
import { attemptResolve, requireOfApplication } from './application-require.js';
import type { SpanExporterLike, SpanProcessorLike } from './setup-options.js';

type SdkNode = typeof import('@opentelemetry/sdk-node');
/** SDK 2.x re-exports the packages that it is made of; SDK 3.x doesn't. The oldest 2.x have no `startNodeSDK`. */
export type SdkModule = Pick<SdkNode, 'NodeSDK'> &
  Partial<Pick<SdkNode, 'startNodeSDK' | 'tracing' | 'resources'>>;

export type Resource = NodeSDKConfiguration['resource'];

/**
 * Loads a package that the SDK is made of, from the SDK's folder: it is no dependency of ours, and some package managers hide
 * it from us.
 */
function loadBesideSdk(name: string): Record<string, unknown> | undefined {
  try {
    const require = requireOfApplication('@opentelemetry/sdk-node');
    const sdk = attemptResolve(require, '@opentelemetry/sdk-node');
    if (sdk === undefined) return undefined;
    return nodeModule.createRequire(sdk)(name) as Record<string, unknown>;
  } catch {
    return undefined;
  }
}

/** The SDK's batch processor for an exporter; undefined if it isn't found. */
export function createBatchProcessor(
  { tracing }: SdkModule,
  exporter: SpanExporterLike,
): SpanProcessorLike | undefined {
  if (tracing !== undefined) return new tracing.BatchSpanProcessor(exporter);
  const { BatchSpanProcessor } = (loadBesideSdk('@opentelemetry/sdk-trace') ?? {}) as {
    BatchSpanProcessor?: new (options: { exporter: SpanExporterLike }) => SpanProcessorLike;
  };
  return BatchSpanProcessor && new BatchSpanProcessor({ exporter });
}

/** The SDK's default resource; undefined if it isn't found. */
export function defaultResource({ resources }: SdkModule): Resource | undefined {
  const found = resources ?? loadBesideSdk('@opentelemetry/resources');
  return (found as { defaultResource?(): Resource } | undefined)?.defaultResource?.();
}
