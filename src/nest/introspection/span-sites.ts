import type { ModulesContainer } from '@nestjs/core';
import { classMethods } from '../span-group/class-methods.js';
import { classNameOf } from '../span-group/class-name.js';
import { type AnyClass, gateInherited } from '../span-group/gated-class.js';
import { type GatedMethod, gatedMethodOf } from '../span-group/gated-method.js';
import { handlerType } from '../span-group/handler-kind.js';
import type { HttpRoute } from '../span-group/http-routes.js';
import { applicationClasses, classesOfBoundInstances } from './application-classes.js';

/** One decorated method of a class that the application uses. */
export interface SpanSite {
  /** `Class.method` */
  readonly name: string;
  /** The span group, normalised. */
  readonly group: string;
  /** `handler`: Nest calls it for a request or message; `method`: any other. */
  readonly kind: 'handler' | 'method';
  /** Of handlers: the type of the execution context that Nest calls it in. */
  readonly type?: 'http' | 'rpc' | 'ws' | 'graphql';
  /** Of HTTP handlers: method and full path, the first if there are several, e.g. `GET /orders/:id`. */
  readonly route?: string;
  /** There where no decorator has put it into the group, but the option `autoGroups`. */
  readonly auto?: true;
}

/** Which handlers and methods of an application are in which group. */
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
    const done = new Set<AnyClass>();
    for (const Class of applicationClasses(this.modules)) gateInherited(Class, done);
  }

  /** Every site, sorted by name. Kept until a module is added (lazily, at run time). */
  list(): readonly SpanSite[] {
    if (this.cached?.modules !== this.modules.size) {
      this.cached = { modules: this.modules.size, sites: this.find() };
    }
    return this.cached.sites;
  }

  /** The sites whose group isn't among the registered ones. Not described any further: this is a part of each start. */
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
    const classes = applicationClasses(this.modules);
    for (const Class of new Set([...classes, ...classesOfBoundInstances(this.modules, classes)])) {
      for (const { name, method } of decoratableMethods(Class)) {
        const gated = gatedMethodOf(method);
        // Of another application of the process, which shares the class.
        if (gated?.loan?.borrowers.has(this.modules) === false) continue;
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

/** The methods of a class that can be in a group: with the symbols and static methods that a decorator of their own puts there. */
function decoratableMethods(Class: AnyClass): { name: string; method: object }[] {
  const found: { name: string; method: object }[] = classMethods(Class.prototype as object);
  const owners = [Class.prototype as object, Class];
  for (const owner of owners) {
    for (const key of Reflect.ownKeys(owner)) {
      if (owner !== Class && typeof key !== 'symbol') continue;
      const { value } = Object.getOwnPropertyDescriptor(owner, key)! as { value?: unknown };
      if (typeof value === 'function') found.push({ name: String(key), method: value });
    }
  }
  return found;
}
