import type { ModulesContainer } from '@nestjs/core';
import { processState } from '../../core/state/process-state.js';
import { borrowerOf } from '../span-group/borrower.js';
import { type AnyClass, classMethods } from '../span-group/class-methods.js';
import { classNameOf } from '../span-group/class-name.js';
import { gateInherited } from '../span-group/gated-class.js';
import type { GatedMethod } from '../span-group/gated-method.js';
import { handlerType } from '../span-group/handler-kind.js';
import type { HttpRoute } from '../span-group/http-routes.js';
import { gateAt } from '../span-group/known-gates.js';
import { applicationAndBoundClasses, applicationClasses } from './application-classes.js';

/** One decorated method of a class that the application uses. */
export interface SpanSite {
  /** `Class.method` */
  readonly name: string;
  /** The span group, normalised. */
  readonly group: string;
  /** `handler`: Nest calls it for a request or message. `method`: any other method. */
  readonly kind: 'handler' | 'method';
  /** For handlers: the type of the execution context in which Nest calls it. */
  readonly type?: 'http' | 'rpc' | 'ws' | 'graphql';
  /** For HTTP handlers: method and full path, the first if there are several, e.g. `GET /orders/:id`. */
  readonly route?: string;
  /** Only if the option `autoGroups` has put it into the group, and no decorator. */
  readonly auto?: true;
}

/** The handlers and methods of an application, with their groups. */
export class SpanSites {
  private cached: { modules: number; sites: readonly SpanSite[] } | undefined;

  constructor(
    private readonly modules: ModulesContainer,
    private readonly routesOf: (Class: object, method: object) => readonly HttpRoute[],
  ) {}

  /**
   * Gates the methods of classes that are in the group of a base class. Nest keeps the methods that it finds when it maps
   * routes, so this runs while providers are made.
   */
  gateInherited(): void {
    // Measured: reading two thousand classes takes a hundredth of a boot.
    if (!processState.areClassesInGroups) return;
    const done = new Set<AnyClass>();
    for (const Class of applicationClasses(this.modules)) gateInherited(Class, done);
  }

  /** Every site, sorted by name. It is kept until a module is added (lazily, at run time). */
  list(): readonly SpanSite[] {
    if (this.cached?.modules !== this.modules.size) {
      this.cached = { modules: this.modules.size, sites: this.find() };
    }
    return this.cached.sites;
  }

  /** The sites whose group isn't registered, without further details, because this runs at each start. */
  *outside(registered: ReadonlySet<string>): Iterable<{ site: string; group: string }> {
    for (const { name, gated } of this.gated()) {
      const { group } = gated.site;
      if (!registered.has(group)) yield { site: name, group };
    }
  }

  private find(): SpanSite[] {
    const sites: SpanSite[] = [];
    for (const { name, gated, Class, method } of this.gated()) {
      const site = this.describe(name, gated.site.group, Class, method);
      sites.push(gated.site.auto === undefined ? site : { ...site, auto: true });
    }
    return sites.sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0));
  }

  private *gated(): Iterable<{ name: string; gated: GatedMethod; Class: AnyClass; method: object }> {
    for (const Class of applicationAndBoundClasses(this.modules)) {
      for (const { name, key, owner, method } of decoratableMethods(Class)) {
        const gated = gateAt(owner, key, method, borrowerOf(this.modules));
        if (gated !== undefined) yield { name: `${classNameOf(Class)}.${name}`, gated, Class, method };
      }
    }
  }

  private describe(name: string, group: string, Class: AnyClass, method: object): SpanSite {
    const type = handlerType(method);
    if (type === undefined) return { name, group, kind: 'method' };
    const [route] = type === 'http' ? this.routesOf(Class, method) : [];
    return {
      name,
      group,
      kind: 'handler',
      type,
      ...(route === undefined ? {} : { route: `${route.verb} ${route.template}` }),
    };
  }
}

interface DecoratableMethod {
  readonly name: string;
  readonly key: string | symbol;
  readonly owner: object;
  readonly method: object;
}

/** The methods of a class that can be in a group. Symbols and static methods count if they have a decorator of their own. */
function decoratableMethods(Class: AnyClass): DecoratableMethod[] {
  const found = classMethods(Class.prototype as object).map(({ name, owner, method }): DecoratableMethod => ({
    name,
    key: name,
    owner,
    method,
  }));
  const owners = [Class.prototype as object, Class];
  for (const owner of owners) {
    for (const key of Reflect.ownKeys(owner)) {
      if (owner !== Class && typeof key !== 'symbol') continue;
      const { value } = Object.getOwnPropertyDescriptor(owner, key)! as { value?: unknown };
      if (typeof value === 'function') found.push({ name: String(key), key, owner, method: value });
    }
  }
  return found;
}
