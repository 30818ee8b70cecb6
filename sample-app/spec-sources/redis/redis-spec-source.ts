import type { SpanGroupSpecSource } from 'nest-lens';
import { createClient } from 'redis';

/** How often the key is read although nobody has announced a change, in milliseconds: an announcement can get lost. */
const READ_AGAIN_MS = 10_000;

/**
 * The spec in a key of Redis, for as many processes as there are. Whoever changes it says so on the channel of the same name:
 *
 *     SET nest-lens:span-groups 'default,db_*'
 *     PUBLISH nest-lens:span-groups changed
 *
 * Without the key, or with an empty one, the configured spec counts.
 *
 * @param options `url`: as `createClient` takes it. `key`: `nest-lens:span-groups` by default
 */
export function redisSpecSource({
  url,
  key = 'nest-lens:span-groups',
}: {
  url: string;
  key?: string;
}): SpanGroupSpecSource {
  return {
    name: `redis:${key}`,
    watch(onSpec, onProblem) {
      const reader = createClient({ url });
      // A connection that has subscribed to something can't be asked for anything else.
      const subscriber = reader.duplicate();
      const failed = (error: unknown): void => onProblem?.(error);
      const read = (): void => {
        if (reader.isReady) reader.get(key).then((spec) => onSpec(spec || undefined), failed);
      };
      for (const client of [reader, subscriber]) {
        // It connects again by itself, and then says that it is ready: something may have changed meanwhile.
        client.on('error', failed).on('ready', read).unref();
      }
      reader.connect().catch(failed);
      subscriber
        .connect()
        .then(() => subscriber.subscribe(key, read))
        .then(read)
        .catch(failed);
      const timer = setInterval(read, READ_AGAIN_MS).unref();
      return () => {
        clearInterval(timer);
        reader.destroy();
        subscriber.destroy();
      };
    },
  };
}
