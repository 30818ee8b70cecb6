import type { ContextManager, TracerProvider } from '@opentelemetry/api';
import { emitWarnings } from '../diagnostics/warnings.js';
import type { InstrumentationScope } from '../state/state-shape.js';
import { readOptions } from './checked-options.js';
import { gateProvider } from './gated-provider.js';
import { gateTracers } from './gated-tracers.js';
import type { InstrumentationGroupsOptions } from './instrumentation-groups-options.js';
import { InstrumentationGroups } from './instrumentation-groups.js';
import { keepOffSpansOut } from './off-spans-kept-out.js';
import type { TakeBack } from './put-before.js';
import { SpanAdmission } from './span-admission.js';

/** The registered OpenTelemetry APIs, and the known instrumentations. */
export interface GatedProcess {
  readonly provider: TracerProvider;
  readonly contextManager: ContextManager | undefined;
  /** The scopes of instrumentations that are known before their first span. */
  readonly scopes: Iterable<InstrumentationScope>;
}

/**
 * Puts the spans of all instrumentations behind the gates of span groups. When it returns, their groups are in the registry,
 * so put the spec in force afterwards.
 */
export function gateInstrumentations(
  options: InstrumentationGroupsOptions,
  { provider, contextManager, scopes }: GatedProcess,
): TakeBack {
  const checked = readOptions(options);
  emitWarnings(checked.warnings);
  const groups = new InstrumentationGroups(checked);
  const admission = new SpanAdmission(groups);
  groups.addKnown(scopes);
  const changes: TakeBack[] = [];
  const tracers = gateTracers(provider, admission);
  const gated = tracers ?? gateProvider(provider, admission);
  if (gated !== undefined) changes.push(gated);
  const contexts = contextManager === undefined ? () => undefined : keepOffSpansOut(contextManager);
  if (contexts !== undefined) changes.push(contexts);
  if (tracers === undefined || contexts === undefined) {
    const spans = tracers !== undefined ? 'none' : gated !== undefined ? 'earlier tracers' : 'all';
    const isOffSpanActive = contexts === undefined;
    emitWarnings([{ code: 'INSTRUMENTATIONS_UNGATED', details: { spans, isOffSpanActive } }]);
  }
  return () => {
    admission.close();
    for (const takeBack of changes) takeBack();
    groups.release();
  };
}
