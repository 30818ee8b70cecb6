// #region flush-after-invocation
import type { INestApplicationContext } from '@nestjs/common';
import { SpanRegistryService } from 'nest-lens';

/** Wraps a handler so that its spans are exported before it answers, because the platform freezes the process afterwards. */
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
