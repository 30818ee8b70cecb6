import type { Span } from '@opentelemetry/api';
import { readProperty } from './read-property.js';

interface PrintableError {
  readonly name: string;
  readonly message: string;
  readonly stack?: string;
  readonly code?: string | number;
}

/** An event as the SDK's spans keep it. */
interface RecordedEvent {
  readonly name: string;
  readonly attributes?: Readonly<Record<string, unknown>>;
}

/** A value as text, of whatever type. */
export function printValue(value: unknown): string {
  try {
    return String(value);
  } catch {
    return 'a value that cannot be printed'; // Such as an object without a prototype, or a revoked proxy.
  }
}

/**
 * A thrown value in a form that the SDK can record. Code can throw anything: the SDK records no event for null or a number,
 * and throws a TypeError for a symbol or an object without a prototype.
 */
function printable(thrown: unknown): PrintableError {
  if ((typeof thrown !== 'object' && typeof thrown !== 'function') || thrown === null) {
    return { name: thrown === null ? 'null' : typeof thrown, message: printValue(thrown) };
  }
  const [name, message, stack, code] = ['name', 'message', 'stack', 'code'].map((key) =>
    readProperty(thrown, key),
  );
  return {
    name: typeof name === 'string' && name !== '' ? name : 'Error',
    message: printValue(message === undefined ? thrown : message),
    ...(typeof stack === 'string' ? { stack } : {}),
    ...(typeof code === 'string' || typeof code === 'number' ? { code } : {}),
  };
}

/** The application may have recorded the exception before it threw it; a span records it once. */
function isRecorded(span: Span, message: string): boolean {
  const { events } = span as { events?: unknown };
  return (
    Array.isArray(events) &&
    (events as readonly RecordedEvent[]).some(
      ({ name, attributes }) => name === 'exception' && attributes?.['exception.message'] === message,
    )
  );
}

/** Records a thrown value as the span's exception event, and returns the message that describes it. */
export function recordThrown(span: Span, thrown: unknown): string {
  const exception = printable(thrown);
  if (!isRecorded(span, exception.message)) span.recordException(exception);
  return exception.message;
}
