import { setTimeout } from 'node:timers';
import { types } from 'node:util';
import { context } from '@opentelemetry/api';
import type { InFlightSpan } from './in-flight-span.js';

/** An async generator, or what a compiler makes of one for an older target. */
export type AsyncGeneratorLike = AsyncGenerator<unknown, unknown, unknown>;

const COMPILED_MEMBERS: readonly PropertyKey[] = ['next', 'return', 'throw', Symbol.asyncIterator];

/**
 * Only real generators count, and objects that carry a generator's methods themselves and nothing else, as compiled ones do. A
 * cursor or a stream is more than its iteration: it has other members, or a class with these methods.
 */
export function isAsyncGenerator(value: object): value is AsyncGeneratorLike {
  if (types.isGeneratorObject(value)) return Symbol.asyncIterator in value;
  return (
    COMPILED_MEMBERS.every((key) => Object.hasOwn(value, key)) &&
    Object.getOwnPropertyNames(value).every((key) => COMPILED_MEMBERS.includes(key))
  );
}

/** A generator that was told to return has given its work up by then, in milliseconds, whatever it still waits for. */
const RETURNS_WITHIN_MS = 50;

/** Ends the span of a generator that nobody will finish, when it is collected. */
const abandoned = new FinalizationRegistry<InFlightSpan>((open) => open.cancel());

/**
 * An async generator like the given one whose steps run inside the span. The span ends when it is exhausted, returned or
 * thrown into; one that is left half-way without `return` ends as cancelled when it is collected.
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
      // A return waits for the step under way, which may wait for something that nobody needs any more, for ever.
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
    // What somebody hung on it, such as a `cancel()`, goes along.
    if (Object.hasOwn(generator, key)) continue;
    Object.defineProperty(generator, key, Object.getOwnPropertyDescriptor(source, key)!);
  }
  abandoned.register(generator, open);
  return generator;
}
