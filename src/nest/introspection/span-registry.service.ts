import { processState } from '../../core/state/process-state.js';
import { isSpanGroupEnabled } from '../../core/groups/span-gate.js';
import type { SpanGroupName } from '../../core/groups/span-group-names.js';
import { clearSpanGroupOverride, overrideSpanGroups } from '../../core/groups/span-group-override.js';
import { enabledSpanGroups, pendingSpanGroups } from '../../core/groups/span-group-state.js';
import { SpanRegistry } from '../../core/groups/span-registry.js';
import { type LensReport, reportLens } from './lens-report.js';
import type { SpanSites } from './span-sites.js';

/**
 * The token of the registry service, for all copies of the package; within one copy the class is a token, too. Use it in a
 * library, whose copy of NestLens may not be the application's.
 *
 * @example
 * constructor(@Inject(SPAN_REGISTRY_SERVICE) private readonly spanRegistry: SpanRegistryService) {}
 */
export const SPAN_REGISTRY_SERVICE = Symbol.for('nest-lens.span-registry.service');

/**
 * The registry of the process, injectable in any provider once `NestLensModule.forRoot` is imported anywhere. Its methods
 * behave like the functions of the same name, and throw the same errors.
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

  /**
   * Registers groups and presets under a namespace, like `SpanRegistry.register`.
   *
   * @param namespace the owner, taken as it is
   * @param groups every group name
   * @param presets named subsets. Default: none
   * @param options `allowOverride`: replace what the namespace registered before. Default: false
   * @throws SpanRegistryError and TypeError as `SpanRegistry.register` does; then nothing has changed
   */
  register(
    namespace: string,
    groups: Iterable<string>,
    presets: Readonly<Record<string, Iterable<string>>> = {},
    options: { allowOverride?: boolean } = {},
  ): void {
    SpanRegistry.register(namespace, groups, presets, options);
  }

  /**
   * Removes a namespace's groups and presets, like `SpanRegistry.unregister`.
   *
   * @throws SpanRegistryError `NAMESPACE_NOT_REGISTERED`; TypeError for a namespace that is not a string
   */
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

  /** The groups that a spec would turn on, and its entries that match nothing. It changes nothing and never throws. */
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

  /**
   * Replaces the configured spec for a while; see {@link overrideSpanGroups}.
   *
   * @param spec as in `NEST_LENS_SPAN_GROUPS`
   * @param options `ttlMs`: milliseconds until it ends by itself. Default: no end
   * @throws NestLensError `PINNED` (telemetry is off, or the groups are pinned), `INVALID_SPEC`, `INVALID_TTL`; TypeError for
   * options that aren't an object or have another key
   */
  override(spec: string, options: { ttlMs?: number } = {}): void {
    overrideSpanGroups(spec, options);
  }

  /**
   * Ends the override, if there is one; see {@link clearSpanGroupOverride}.
   *
   * @throws NestLensError `PINNED`
   */
  clearOverride(): void {
    clearSpanGroupOverride();
  }

  /**
   * Exports the waiting spans and waits for exports under way. Call it at the end of an invocation, before the platform
   * freezes the process. It settles within the limit and never rejects; a failure is a warning. It does nothing while
   * telemetry is off.
   *
   * @param timeoutMs milliseconds; a value that isn't a number of 0 or more, such as NaN, counts as the default. Default: 5,000
   */
  async forceFlush(timeoutMs?: number): Promise<void> {
    await processState.telemetry.forceFlush?.(timeoutMs);
  }

  /**
   * The document of `GET /lens/groups`: which groups are on in this process, and why.
   *
   * @param options `sites`: list the decorated handlers and methods of each group. Default: false
   */
  describe(options: { sites?: boolean } = {}): LensReport {
    return reportLens(this.sites.list(), options.sites === true);
  }
}
