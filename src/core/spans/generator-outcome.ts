import { setTimeout } from 'node:timers';
import { types } from 'node:util';
import { context } from '@opentelemetry/api';
import type { InFlightSpan } from './in-flight-span.js';

/** An async generator, or the object that a compiler makes of one for an older target. */
export type AsyncGeneratorLike = AsyncGenerator<unknown, unknown, unknown>;

const COMPILED_MEMBERS: readonly PropertyKey[] = ['next', 'return', 'throw', Symbol.asyncIterator];

/**
 * Accepts real generators, and objects whose own members are exactly those of a generator, as compiled ones are. A cursor or
 * a stream isn't one: it has other members, or its class has these methods.
 */
export function isAsyncGenerator(value: object): value is AsyncGeneratorLike {
  if (types.isGeneratorObject(value)) return Symbol.asyncIterator in value;
  return (
    COMPILED_MEMBERS.every((key) => Object.hasOwn(value, key)) &&
    Object.getOwnPropertyNames(value).every((key) => COMPILED_MEMBERS.includes(key))
  );
}

/** After `return()`, a generator has this many milliseconds to end its work before its span ends as cancelled. */
const RETURNS_WITHIN_MS = 50;

/** Ends the span of an abandoned generator when the generator is garbage-collected. */
const abandoned = new FinalizationRegistry<InFlightSpan>((open) => open.cancel());

/**
 * Makes an async generator whose steps run inside the span. The span ends when the generator is exhausted, returned or thrown
 * into. If it is abandoned half-way without `return`, the span ends as cancelled when it is garbage-collected.
 */
export function followGenerator(source: AsyncGeneratorLike, open: InFlightSpan): AsyncGeneratorLike {
  const step = async (
    run: () => Promise<IteratorResult<unknown, unknown>>,
    end: () => void,
  ): Promise<IteratorResult<unknown, unknown>> => {
    try {
      const result = await context.with(open.inside, run);
      if (result.done === true) end();
      return result;
    } catch (thrown) {
      open.fail(thrown);
      throw thrown;
    }
  };
  let waiting = 0;
  const next = async (...args: [] | [unknown]) => {
    waiting++;
    try {
      return await step(
        () => source.next(...args),
        () => open.end(),
      );
    } finally {
      waiting--;
    }
  };
  const steps = {
    next,
    return: (value: unknown) => {
      // `return()` waits for the step under way, which may never end.
      if (waiting > 0) setTimeout(() => open.cancel(), RETURNS_WITHIN_MS).unref();
      return step(
        () => source.return(value),
        () => open.cancel(),
      );
    },
    throw: (thrown: unknown) =>
      step(
        () => source.throw(thrown),
        () => open.end(),
      ),
  };
  const generator = Object.create(Object.getPrototypeOf(source) as object) as AsyncGeneratorLike;
  const members = { ...steps, [Symbol.asyncIterator]: () => generator };
  for (const key of COMPILED_MEMBERS) {
    const value = members[key as keyof typeof members];
    Object.defineProperty(generator, key, { value, configurable: true, writable: true });
  }
  for (const key of Reflect.ownKeys(source)) {
    // Members that a caller has added, such as a `cancel()`, are copied.
    if (Object.hasOwn(generator, key)) continue;
    Object.defineProperty(generator, key, Object.getOwnPropertyDescriptor(source, key)!);
  }
  abandoned.register(generator, open);
  return generator;
}
