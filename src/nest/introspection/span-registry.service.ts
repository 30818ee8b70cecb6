import { processState } from '../../core/state/process-state.js';
import { isSpanGroupEnabled } from '../../core/groups/span-gate.js';
import type { SpanGroupName } from '../../core/groups/span-group-names.js';
import { clearSpanGroupOverride, overrideSpanGroups } from '../../core/groups/span-group-override.js';
import { enabledSpanGroups, pendingSpanGroups } from '../../core/groups/span-group-state.js';
import { SpanRegistry } from '../../core/groups/span-registry.js';
import { type LensReport, reportLens } from './lens-report.js';
import type { SpanSites } from './span-sites.js';

/** Injects the registry service across copies of the package; within one copy its class does. */
export const SPAN_REGISTRY_SERVICE = Symbol.for('nest-lens.span-registry.service');

/**
 * The registry of the process, injectable in any provider once `NestLensModule.forRoot` is imported anywhere. Its methods
 * do what the functions of the same name do, and throw what they throw.
 *
 * @example
 * ```ts
 * constructor(private readonly spanRegistry: SpanRegistryService) {}
 * onModuleInit() { this.spanRegistry.register('cache', ['cache_get', 'cache_set']); }
 * ```
 */
export class SpanRegistryService {
  /** @internal */
  constructor(private readonly sites: SpanSites) {}

  /** See {@link SpanRegistry}. */
  register(
    namespace: string,
    groups: Iterable<string>,
    presets: Readonly<Record<string, Iterable<string>>> = {},
    options: { allowOverride?: boolean } = {},
  ): void {
    SpanRegistry.register(namespace, groups, presets, options);
  }

  /** See {@link SpanRegistry}. */
  unregister(namespace: string): void {
    SpanRegistry.unregister(namespace);
  }

  /** Every registered group, as a new set. */
  groups(): ReadonlySet<string> {
    return SpanRegistry.groups();
  }

  /** Every namespace, sorted. */
  namespaces(): readonly string[] {
    return SpanRegistry.namespaces();
  }

  /** Every preset with its registered members, as a new map. */
  presets(): ReadonlyMap<string, ReadonlySet<string>> {
    return SpanRegistry.presets();
  }

  /** What a spec would turn on, and which of its entries match nothing. */
  resolve(spec: string): { enabled: ReadonlySet<string>; pending: ReadonlySet<string> } {
    return SpanRegistry.resolve(spec);
  }

  /** Whether a group is on; see {@link isSpanGroupEnabled}. */
  isEnabled(group: SpanGroupName): boolean {
    return isSpanGroupEnabled(group);
  }

  /** The groups that are on; see {@link enabledSpanGroups}. */
  enabled(): ReadonlySet<string> {
    return enabledSpanGroups();
  }

  /** The entries of the spec that match nothing; see {@link pendingSpanGroups}. */
  pending(): ReadonlySet<string> {
    return pendingSpanGroups();
  }

  /** Puts another spec over the configured one; see {@link overrideSpanGroups}. */
  override(spec: string, options: { ttlMs?: number } = {}): void {
    overrideSpanGroups(spec, options);
  }

  /** Takes the override away; see {@link clearSpanGroupOverride}. */
  clearOverride(): void {
    clearSpanGroupOverride();
  }

  /**
   * Exports what is waiting, and waits for what is on its way: at the end of an invocation, before the platform freezes the
   * process. Settles within the limit and never rejects; a failure is a warning. Does nothing while telemetry is off.
   *
   * @param timeoutMs milliseconds; what is no number from 0 up, such as NaN, counts as the default. Default: 5,000
   */
  async forceFlush(timeoutMs?: number): Promise<void> {
    await processState.telemetry.forceFlush?.(timeoutMs);
  }

  /**
   * What is on in this process, and why: the document of `GET /lens/groups`.
   *
   * @param options `sites`: list the decorated handlers and methods of each group. Default: false
   */
  describe(options: { sites?: boolean } = {}): LensReport {
    return reportLens(this.sites.list(), options.sites === true);
  }
}
