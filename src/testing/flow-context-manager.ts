import { AsyncLocalStorage } from 'node:async_hooks';
import { EventEmitter } from 'node:events';
import { type Context, type ContextManager, ROOT_CONTEXT } from '@opentelemetry/api';

type AnyFunction = (this: unknown, ...args: unknown[]) => unknown;

/**
 * A context manager in which the active context follows the flow of calls, like the SDK's own. With it, a test needs no
 * further package.
 */
export class FlowContextManager implements ContextManager {
  private readonly flows = new AsyncLocalStorage<Context>();
  private readonly bound = new WeakSet<EventEmitter>();

  active(): Context {
    return this.flows.getStore() ?? ROOT_CONTEXT;
  }

  with<A extends unknown[], F extends (...args: A) => ReturnType<F>>(
    active: Context,
    fn: F,
    thisArg?: ThisParameterType<F>,
    ...args: A
  ): ReturnType<F> {
    return this.flows.run(active, () => fn.apply(thisArg, args));
  }

  /** An emitter calls its listeners in the context. If it is bound again, the first context counts. */
  bind<T>(active: Context, target: T): T {
    if (typeof target === 'function') return this.bindFunction(active, target as unknown as AnyFunction) as T;
    if (target instanceof EventEmitter && !this.bound.has(target)) {
      this.bound.add(target);
      target.emit = this.bindFunction(active, target.emit.bind(target) as AnyFunction) as typeof target.emit;
    }
    return target;
  }

  enable(): this {
    return this;
  }

  disable(): this {
    this.flows.disable();
    return this;
  }

  private bindFunction(active: Context, target: AnyFunction): AnyFunction {
    const { flows } = this;
    const bound: AnyFunction = function (...args) {
      return flows.run(active, () => target.apply(this, args));
    };
    return Object.defineProperty(bound, 'length', { value: target.length, configurable: true });
  }
}
