import 'reflect-metadata';
import type { ClassMethod } from '../span-group/class-methods.js';
import { isMarkedAsHandler } from '../span-group/handler-kind.js';

/**
 * Marks of other packages of Nest on methods that a clock, an event or a queue calls. They are written out, because an
 * application installs only the packages that it uses; a test checks them against the real packages, except for bull.
 */
const METHOD_MARKS: readonly string[] = [
  'SCHEDULER_TYPE',
  'EVENT_LISTENER_METADATA',
  'bull:module_queue_process',
];

/** Marks on classes of bullmq and cqrs, by the method that is called. */
const CLASS_MARKS: ReadonlyMap<string, readonly string[]> = new Map([
  ['process', ['bullmq:processor_metadata']],
  ['execute', ['__commandHandler__', '__queryHandler__']],
  ['handle', ['__eventsHandler__']],
]);

/** Whether a method is called from outside of the application's code: by a request, a message, a clock, an event or a queue. */
export function isEntryPoint(Class: object, { name, keys }: ClassMethod): boolean {
  // Most methods of services have no metadata.
  const isMarked =
    keys.length > 0 && (isMarkedAsHandler(keys) || METHOD_MARKS.some((mark) => keys.includes(mark)));
  return isMarked || CLASS_MARKS.get(name)?.some((mark) => Reflect.hasMetadata(mark, Class)) === true;
}
