import { context } from '@opentelemetry/api';
import type { OpenSpan } from './span-outcome.js';

/** An async generator, seen by its shape: compiled for an older target it is a plain object with these methods. */
export type AsyncGeneratorLike = AsyncGenerator<unknown, unknown, unknown>;

export function isAsyncGenerator(value: object): value is AsyncGeneratorLike {
  const candidate = value as Partial<AsyncGeneratorLike>;
  return (
    typeof candidate[Symbol.asyncIterator] === 'function' &&
    typeof candidate.next === 'function' &&
    typeof candidate.return === 'function' &&
    typeof candidate.throw === 'function'
  );
}

/** Ends the span of a generator that nobody will finish, when it is collected. */
const abandoned = new FinalizationRegistry<OpenSpan>((open) => open.cancel());

/**
 * An async generator like the given one whose steps run inside the span. The span ends when it is exhausted, returned or
 * thrown into; one that is left half-way without `return` ends as cancelled when it is collected.
 */
export function followGenerator(source: AsyncGeneratorLike, open: OpenSpan): AsyncGeneratorLike {
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
  const steps = {
    next: (...args: [] | [unknown]) => step(() => source.next(...args), () => open.end()),
    return: (value: unknown) => step(() => source.return(value), () => open.cancel()),
    throw: (thrown: unknown) => step(() => source.throw(thrown), () => open.end()),
  };
  const generator = Object.create(Object.getPrototypeOf(source) as object) as AsyncGeneratorLike;
  for (const [key, value] of Object.entries(steps)) {
    Object.defineProperty(generator, key, { value, configurable: true, writable: true });
  }
  if (generator[Symbol.asyncIterator] === undefined) {
    Object.defineProperty(generator, Symbol.asyncIterator, { value: () => generator, configurable: true });
  }
  abandoned.register(generator, open);
  return generator;
}
