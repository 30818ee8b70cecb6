/** `nest-lens`: for Nest applications; everything public. */
export { nestLensConfigFromEnv } from './core/config.js';
export type { EnvOptions, ExporterName, NestLensConfig } from './core/config.js';
export { extractContext, injectContext } from './core/context-propagation.js';
export { defineSpanGroups } from './core/define-span-groups.js';
export type { DefinedSpanGroups, SpanGroupDefinition } from './core/define-span-groups.js';
export { ConfigError, NestLensError, SpanRegistryError, TelemetryAlreadySetUpError } from './core/errors.js';
export type { NestLensErrorCode } from './core/errors.js';
export { managedSpan } from './core/managed-span.js';
export type {
  InstrumentationLike,
  MetricReaderLike,
  SetupOptions,
  SpanExporterLike,
  SpanProcessorLike,
} from './core/setup-options.js';
export { safeSetSpanAttributes } from './core/span-attributes.js';
export { isSpanGroupEnabled } from './core/span-gate.js';
export { clearSpanGroupOverride, overrideSpanGroups } from './core/span-group-override.js';
export {
  enabledSpanGroups,
  pendingSpanGroups,
  setEnabledSpanGroups,
  setSpanGroupSpec,
} from './core/span-group-state.js';
export type { SiteOptions } from './core/span-plan.js';
export { SpanRegistry } from './core/span-registry.js';
export type { SpanRegistryApi } from './core/span-registry.js';
export { setupTelemetry } from './core/telemetry.js';
export type { TelemetryHandle } from './core/telemetry.js';
export { traceFn } from './core/trace-fn.js';
export { setLensLogger } from './core/warnings.js';
export type { LensLogger, LensWarning, LensWarningCode } from './core/warnings.js';
export { withSpan } from './core/with-span.js';
export { NestLensModule } from './nest/nest-lens.module.js';
export { SPAN_REGISTRY_SERVICE } from './nest/nest-lens-options.js';
export type {
  IntrospectionOptions,
  NestLensAsyncOptions,
  NestLensModuleAsyncOptions,
  NestLensModuleOptions,
  NestLensOptionsFactory,
} from './nest/nest-lens-options.js';
export { NoSpanGroup, SpanGroup } from './nest/span-group.decorator.js';
export { SpanGroupInterceptor } from './nest/span-group.interceptor.js';
export type { SpanGroupOptions } from './nest/span-group-metadata.js';
export { SpanRegistryService } from './nest/span-registry.service.js';
export type { SpanGroupDescription, SpanGroupsDescription } from './nest/span-registry.service.js';
export type { SpanSite } from './nest/span-sites.js';
