// As a whole: webpack 5.113 warns about a `createRequire` that is imported by its name.
import * as nodeModule from 'node:module';
import type { NodeSDKConfiguration } from '@opentelemetry/sdk-node';
import { attemptResolve, requireOfApplication } from './application-require.js';
import type { SpanExporterLike, SpanProcessorLike } from './setup-options.js';

type SdkNode = typeof import('@opentelemetry/sdk-node');
/** SDK 2.x hands on the packages that it is made of; SDK 3.x doesn't. The oldest 2.x have no `startNodeSDK`. */
export type SdkModule = Pick<SdkNode, 'NodeSDK'> &
  Partial<Pick<SdkNode, 'startNodeSDK' | 'tracing' | 'resources'>>;

export type Resource = NodeSDKConfiguration['resource'];

/**
 * Loads a package that the SDK is made of, from where the SDK is: it is none of our dependencies, nor, with some package
 * managers, to be found from here.
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

/** The SDK's batch processor for an exporter; undefined where it isn't found. */
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

/** What an SDK describes itself with unless it is told otherwise; undefined where it isn't found. */
export function defaultResource({ resources }: SdkModule): Resource | undefined {
  const found = resources ?? loadBesideSdk('@opentelemetry/resources');
  return (found as { defaultResource?(): Resource } | undefined)?.defaultResource?.();
}
