import { ModuleRef, type ModulesContainer } from '@nestjs/core';
import {
  type AnyClass,
  type ClassMethod,
  classMethods,
  classOfPrototype,
} from '../span-group/class-methods.js';
import { ScannedClass } from '../span-group/scanned-class.js';
import type { AutoGroupKind } from '../span-group/handler-span.js';
import { shieldOf } from '../span-group/shield.js';
import { isClass } from '../span-group/module-groups.js';
import { classSpanGroup, SPAN_GROUP_METADATA } from '../span-group/span-group-metadata.js';
import type { CheckedAutoGroups } from './checked-auto-groups.js';
import { isEntryPoint } from './entry-points.js';
import { providerMethods } from './provider-methods.js';

/** Puts a method into the group of a kind. */
type Take = (kind: AutoGroupKind, Class: AnyClass, method: ClassMethod) => void;

/** Nest exports neither type. */
type NestModule = ModulesContainer extends Map<string, infer M> ? M : never;
type Wrapper = NestModule['providers'] extends Map<unknown, infer W> ? W : never;

/** The methods that Nest calls on guards, pipes, interceptors and exception filters. */
const ENHANCER_METHODS: ReadonlySet<string> = new Set(['canActivate', 'transform', 'intercept', 'catch']);

/**
 * The methods of an application for `autoGroups`; a method may come more than once. Each is handed on before the next one is
 * looked for, because a base class's gate counts for the subclass. Measured: generators in place of callbacks take a thirtieth of
 * a boot.
 */
export class AutoSites {
  /** Classes to leave out. The methods that they inherit may be gated for other classes. */
  readonly leftAlone = new Set<AnyClass>();

  constructor(
    private readonly modules: ModulesContainer,
    private readonly options: CheckedAutoGroups,
  ) {}

  /** The classes of controllers and providers, which may have handlers, and enhancers bound to them. */
  entryClasses(): Set<AnyClass> {
    const classes = new Set<AnyClass>();
    for (const { controllers, providers } of this.openModules()) {
      for (const wrappers of [controllers, providers]) {
        for (const wrapper of wrappers.values()) {
          const Class = classOf(wrapper);
          if (Class !== undefined) classes.add(Class);
        }
      }
    }
    return classes;
  }

  /** Handlers of controllers, gateways, resolvers, and of providers that are called from outside. */
  handlers(scan: ScannedClass, take: Take): void {
    const { Class } = scan;
    if (!this.isOpen(Class, scan)) return;
    for (const method of scan.methods) {
      if (isEntryPoint(Class, method) && this.isLeft(method)) take('handlers', Class, method);
    }
  }

  /** Methods of the enhancers that Nest makes, wherever they are bound. */
  enhancers(take: Take): void {
    for (const { injectables, providers } of this.openModules()) {
      for (const wrapper of injectables.values()) this.enhancer(wrapper, take);
      for (const wrapper of providers.values()) {
        if (wrapper.subtype !== undefined) this.enhancer(wrapper, take);
      }
    }
  }

  /** Methods of enhancers that the application has made itself. */
  enhancersOf(classes: Iterable<AnyClass>, take: Take): void {
    for (const Class of classes) {
      if (!this.isOpen(Class)) continue;
      for (const method of classMethods(Class.prototype as object)) {
        if (ENHANCER_METHODS.has(method.name) && this.isLeft(method)) take('enhancers', Class, method);
      }
    }
  }

  /**
   * Methods of the class providers in the application's own modules. Methods that were taken as handlers or enhancers stay
   * there.
   */
  providers(isOfPackage: (Class: object) => boolean, take: Take): void {
    const { include, exclude } = this.options;
    for (const module of this.openModules()) {
      const isIncluded = include.has(module.metatype);
      let isModuleOfPackage: boolean | undefined;
      for (const [token, wrapper] of module.providers) {
        const Class = classOf(wrapper);
        if (Class === undefined || Class === module.metatype || token === ModuleRef) continue;
        if (wrapper.subtype !== undefined) continue; // a global enhancer
        const isNamed = include.has(Class) || isIncluded;
        // Asked only here, because the first question takes a hundredth of a boot.
        if (!isNamed && ((isModuleOfPackage ??= isOfPackage(module.metatype)) || isOfPackage(Class)))
          continue;
        if (!this.isOpen(Class)) continue;
        const isLeftOut = (Base: object): boolean => exclude.has(Base) || (!isNamed && isOfPackage(Base));
        for (const method of providerMethods(Class, isLeftOut)) {
          if (!isDecorated(method)) take('providers', Class, method);
        }
      }
    }
  }

  private enhancer(wrapper: Wrapper, take: Take): void {
    // `useExisting` names the class of an instance that Nest makes elsewhere.
    const [token] = wrapper.isAlias ? (wrapper.inject ?? []) : [];
    const Class = wrapper.isAlias && isClass(token) ? token : classOf(wrapper);
    if (Class !== undefined) this.enhancersOf([Class], take);
  }

  /** The modules, without Nest's core module and the excluded ones. */
  private *openModules(): Iterable<NestModule> {
    const [, ...modules] = this.modules.values();
    for (const module of modules) {
      const isExcluded = this.options.exclude.has(module.metatype);
      if (!isExcluded && classSpanGroup(module.metatype)?.group !== null) {
        yield module;
        continue;
      }
      for (const wrappers of [module.controllers, module.providers, module.injectables]) {
        for (const wrapper of wrappers.values()) {
          const Class = classOf(wrapper);
          if (Class !== undefined) this.leftAlone.add(Class);
        }
      }
    }
  }

  /** A class with `@SpanGroup` or `@NoSpanGroup` has decided for itself. */
  private isOpen(Class: AnyClass, { isDecorated } = new ScannedClass(Class)): boolean {
    const metadata = isDecorated ? classSpanGroup(Class) : undefined;
    if (!this.options.exclude.has(Class) && metadata === undefined) return true;
    if (metadata === undefined || metadata.group === null) this.leftAlone.add(Class);
    return false;
  }

  /** Whether nobody has decided about a method: neither a decorator nor `exclude`, which may name a base class that has it. */
  private isLeft(method: ClassMethod): boolean {
    if (isDecorated(method)) return false;
    // A shield is no method of the class that has it.
    const isDeclared = method.inherited && shieldOf(method.method) === undefined;
    const Base = isDeclared ? classOfPrototype(method.owner) : undefined;
    return Base === undefined || !this.options.exclude.has(Base);
  }
}

/** Taken out by `@NoSpanGroup`. A method with a group is gated already. */
function isDecorated({ keys }: ClassMethod): boolean {
  return keys.includes(SPAN_GROUP_METADATA);
}

/** The class that Nest makes an instance of; undefined for a factory and for a value. */
function classOf(wrapper: Wrapper): AnyClass | undefined {
  const { metatype, inject, isNotMetatype } = wrapper;
  return !isNotMetatype && (inject === null || inject === undefined) && isClass(metatype)
    ? metatype
    : undefined;
}
