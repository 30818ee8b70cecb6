import type { ModulesContainer } from '@nestjs/core';
import { emitWarnings, type Warning } from '../../core/diagnostics/warnings.js';
import { SpanRegistry } from '../../core/groups/span-registry.js';
import { applicationAndBoundClasses, BoundInstances } from '../introspection/application-classes.js';
import { type AnyClass, type ClassMethod, classMethods } from '../span-group/class-methods.js';
import type { AutoGroupKind } from '../span-group/handler-span.js';
import type { LentGates } from '../span-group/lent-gates.js';
import { ScannedClass } from '../span-group/scanned-class.js';
import type { SpanGroupOptions } from '../span-group/span-group-metadata.js';
import { AutoSites } from './auto-sites.js';
import { type CheckedAutoGroups, readAutoGroups } from './checked-auto-groups.js';
import { packageClasses } from './package-classes.js';

/** Sites of `autoGroups` have none. */
const NO_OPTIONS: SpanGroupOptions = Object.freeze({});

/** The groups that one application has asked for by `autoGroups`. */
export class AutoGroups {
  readonly groups: CheckedAutoGroups['groups'];
  private readonly options: CheckedAutoGroups;
  private readonly sites: AutoSites;
  private isOfPackage: ((Class: object) => boolean) | undefined;

  /**
   * @param given the option
   * @param registered groups of the same options
   */
  constructor(
    given: unknown,
    private readonly modules: ModulesContainer,
    private readonly gates: LentGates,
    registered: Iterable<string>,
  ) {
    this.options = readAutoGroups(given, new Set([...SpanRegistry.groups(), ...registered]));
    this.groups = this.options.groups;
    this.sites = new AutoSites(modules, this.options);
  }

  /**
   * Puts the methods into their groups. Nest keeps the methods that it finds when it maps routes, so this runs while
   * providers are made.
   */
  async lend(): Promise<void> {
    emitWarnings(this.options.warnings);
    this.lendEntries();
    if (this.groups.has('providers')) {
      const modules = new Set([...this.modules.values()].map(({ metatype }) => metatype));
      this.isOfPackage = await packageClasses(modules);
    }
    this.lendTheRest();
    emitWarnings(this.unmatched());
  }

  /** The same for an application that starts again after its close. */
  lendAgain(): void {
    this.lendEntries();
    this.lendTheRest();
  }

  private lendEntries(): void {
    const { groups, sites } = this;
    const bound = new BoundInstances(this.modules);
    for (const Class of sites.entryClasses()) {
      const scan = new ScannedClass(Class);
      if (groups.has('handlers')) sites.handlers(scan, this.take);
      if (groups.has('enhancers')) bound.add(scan);
    }
    if (!groups.has('enhancers')) return;
    sites.enhancers(this.take);
    sites.enhancersOf(bound.classes(), this.take);
  }

  private lendTheRest(): void {
    if (this.isOfPackage !== undefined) this.sites.providers(this.isOfPackage, this.take);
    this.leaveAlone();
  }

  /** The same for enhancers that `app.useGlobalPipes()` and the like have got since. */
  lendGlobalEnhancers(): void {
    if (!this.groups.has('enhancers')) return;
    this.sites.enhancersOf(new BoundInstances(this.modules).classes(), this.take);
  }

  private readonly take = (kind: AutoGroupKind, Class: AnyClass, method: ClassMethod): void => {
    this.gates.lend(Class, method, { group: this.groups.get(kind)!, options: NO_OPTIONS, auto: kind });
  };

  private leaveAlone(): void {
    for (const Class of this.sites.leftAlone) {
      for (const method of classMethods(Class.prototype as object)) this.gates.shield(Class, method);
    }
  }

  private unmatched(): Warning[] {
    return (['include', 'exclude'] as const).flatMap((list) =>
      this.options[list]
        .missed(() => applicationAndBoundClasses(this.modules))
        .map(({ name, nearest }): Warning => ({
          code: 'AUTO_GROUPS_UNMATCHED',
          details: { option: `autoGroups.${list}`, name, nearest },
        })),
    );
  }
}
