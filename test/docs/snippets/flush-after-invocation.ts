// #region flush-after-invocation
import type { INestApplicationContext } from '@nestjs/common';
import { SpanRegistryService } from 'nest-lens';

/** Wraps a handler of invocations, of which the platform freezes the process as soon as one has been answered. */
export function flushing<Event, Answer>(
  app: INestApplicationContext,
  handle: (event: Event) => Promise<Answer>,
): (event: Event) => Promise<Answer> {
  const spanRegistry = app.get(SpanRegistryService);
  return async (event) => {
    try {
      return await handle(event);
    } finally {
      await spanRegistry.forceFlush(1_000); // waits for a second at most; never rejects
    }
  };
}
// #endregion
