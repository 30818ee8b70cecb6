/** `nest-lens`: for Nest applications; everything public. */
export { nestLensConfigFromEnv } from './core/telemetry/config-from-env.js';
export type { EnvOptions } from './core/telemetry/config-from-env.js';
export type {
  ClientErrors,
  ConfigOrigin,
  ExporterName,
  NestLensConfig,
  TracedKey,
} from './core/telemetry/config.js';
export { extractContext, injectContext } from './core/spans/context-propagation.js';
export { defineSpanGroups } from './core/groups/define-span-groups.js';
export type { DefinedSpanGroups, RegisteredName } from './core/groups/define-span-groups.js';
export { fileSpecSource } from './core/sources/file-spec-source.js';
export type { SpanGroupSpecSource } from './core/sources/span-group-spec-source.js';
export type { SpanGroupDefinition } from './core/groups/span-group-definition.js';
export type { SpanGroupName, SpanGroupNames } from './core/groups/span-group-names.js';
export {
  ConfigError,
  NestLensError,
  SpanRegistryError,
  TelemetryAlreadySetUpError,
} from './core/diagnostics/errors.js';
export type { NestLensErrorCode } from './core/diagnostics/errors.js';
export { managedSpan } from './core/spans/managed-span.js';
export type { InstrumentationGroupsOptions } from './core/instrumentations/instrumentation-groups-options.js';
export type {
  InstrumentationLike,
  MetricReaderLike,
  SetupOptions,
  SpanExporterLike,
  SpanProcessorLike,
} from './core/telemetry/setup-options.js';
export type { RequestOptInOptions } from './core/opt-in/request-opt-in-options.js';
export { signSpanGroups } from './core/opt-in/sign-span-groups.js';
export type { SignSpanGroupsOptions } from './core/opt-in/sign-span-groups.js';
export type { SigningKey } from './core/opt-in/signed-groups.js';
export { safeSetSpanAttributes } from './core/spans/span-attributes.js';
export { isSpanGroupEnabled } from './core/groups/span-gate.js';
export { clearSpanGroupOverride, overrideSpanGroups } from './core/groups/span-group-override.js';
export {
  enabledSpanGroups,
  pendingSpanGroups,
  setEnabledSpanGroups,
  setSpanGroupSpec,
} from './core/groups/span-group-state.js';
export type { SiteOptions } from './core/spans/span-plan.js';
export { SpanRegistry } from './core/groups/span-registry.js';
export type { SpanRegistryApi } from './core/groups/span-registry.js';
export { setupTelemetry } from './core/telemetry/setup-telemetry.js';
export type { TelemetryHandle } from './core/telemetry/telemetry-handle.js';
export { traceFn } from './core/spans/trace-fn.js';
export { setLensLogger } from './core/diagnostics/warnings.js';
export type { LensLogger, LensWarning, LensWarningCode } from './core/state/lens-warning.js';
export type { SpanGroupChange } from './core/state/span-group-change.js';
export { withSpan } from './core/spans/with-span.js';
export { inSubscriptionContext } from './nest/in-subscription-context.js';
export { NestLensModule } from './nest/nest-lens.module.js';
export type { AutoGroupsOptions, AutoGroupsTarget } from './nest/auto-groups/auto-groups-options.js';
export type { IntrospectionOptions } from './nest/introspection/introspection-options.js';
export type { RuntimeControlOptions } from './nest/introspection/runtime-control-options.js';
export type {
  NestLensAsyncOptions,
  NestLensModuleAsyncOptions,
  NestLensModuleOptions,
  NestLensOptionsFactory,
} from './nest/nest-lens-options.js';
export { NoSpanGroup, SpanGroup } from './nest/span-group/span-group.decorator.js';
export { SpanGroupInterceptor } from './nest/span-group/span-group.interceptor.js';
export type { SpanGroupOptions } from './nest/span-group/span-group-metadata.js';
export { SPAN_REGISTRY_SERVICE, SpanRegistryService } from './nest/introspection/span-registry.service.js';
export type { LensReport, SpanGroupDescription } from './nest/introspection/lens-report.js';
export type { SpanGroupReport } from './nest/introspection/group-report.js';
export type { SpanSite } from './nest/introspection/span-sites.js';
