import type { ContextManager, TracerProvider } from '@opentelemetry/api';
import { emitWarnings } from '../diagnostics/warnings.js';
import { parseSpanGroupSpec } from '../groups/span-group-spec.js';
import type { InstrumentationScope } from '../state/state-shape.js';
import { readOptions } from './checked-options.js';
import { gateProvider } from './gated-provider.js';
import { gateTracers } from './gated-tracers.js';
import type { InstrumentationGroupsOptions } from './instrumentation-groups-options.js';
import { InstrumentationGroups } from './instrumentation-groups.js';
import { keepOffSpansOut } from './off-spans-kept-out.js';
import { putAll, type TakeBack } from './take-back.js';
import { SpanAdmission } from './span-admission.js';

/** The registered OpenTelemetry APIs, and the known instrumentations. */
export interface GatedProcess {
  readonly provider: TracerProvider;
  readonly contextManager: ContextManager | undefined;
  /** The scopes of instrumentations that are known before their first span. */
  readonly scopes: Iterable<InstrumentationScope>;
  /** The configured spec. */
  readonly spec: string;
}

/**
 * Puts the spans of all instrumentations behind the gates of span groups. When it returns, their groups are in the registry,
 * so put the spec in force afterwards.
 */
export function gateInstrumentations(
  options: InstrumentationGroupsOptions,
  { provider, contextManager, scopes, spec }: GatedProcess,
): TakeBack {
  const checked = readOptions(options);
  emitWarnings(checked.warnings);
  const groups = new InstrumentationGroups(checked, parseSpanGroupSpec(spec));
  const admission = new SpanAdmission(groups);
  return putAll((keep) => {
    keep(() => groups.release());
    groups.addKnown(scopes);
    keep(() => admission.close());
    const isTracerGated = keep(gateTracers(provider, admission));
    const isGated = isTracerGated || keep(gateProvider(provider, admission));
    const isOffSpanActive = contextManager !== undefined && !keep(keepOffSpansOut(contextManager));
    if (isTracerGated && !isOffSpanActive) return;
    const spans = isTracerGated ? 'none' : isGated ? 'earlier tracers' : 'all';
    emitWarnings([{ code: 'INSTRUMENTATIONS_UNGATED', details: { spans, isOffSpanActive } }]);
  });
}
