import type { TextMapGetter, TextMapSetter } from '@opentelemetry/api';

/** Headers with methods to read and set them: a `Map`, `Headers`, NATS's `MsgHdrs`. gRPC's `Metadata` has no `keys`. */
interface HeaderMap {
  get(name: string): unknown;
  set(name: string, value: string): unknown;
  keys?(): Iterable<string>;
}

function isHeaderMap(carrier: object): carrier is HeaderMap {
  const { get, set } = carrier as Partial<HeaderMap>;
  return typeof get === 'function' && typeof set === 'function';
}

/** Writes trace headers into the carrier of a message. */
export const CARRIER_SETTER: TextMapSetter<object> = {
  set(carrier, name, value) {
    if (isHeaderMap(carrier)) carrier.set(name, value);
    else (carrier as Record<string, string>)[name] = value;
  },
};

function namesIn(carrier: object): string[] {
  if (!isHeaderMap(carrier)) return Object.keys(carrier);
  return typeof carrier.keys === 'function' ? [...carrier.keys()] : [];
}

function read(carrier: object, name: string): string | string[] | undefined {
  return textOf(isHeaderMap(carrier) ? carrier.get(name) : (carrier as Record<string, unknown>)[name]);
}

/** Reads trace headers from the carrier of a message. A producer in another language may have written `Traceparent`. */
export const CARRIER_GETTER: TextMapGetter<object> = {
  keys: namesIn,
  get(carrier, name) {
    const found = read(carrier, name);
    if (found !== undefined) return found;
    const written = namesIn(carrier).find((other) => String(other).toLowerCase() === name.toLowerCase());
    return written === undefined ? undefined : read(carrier, written);
  },
};

/** A header's value as text. Brokers give bytes or lists of several values, and `null` or '' if there is no value. */
function textOf(value: unknown): string | string[] | undefined {
  if (typeof value === 'string') return value === '' ? undefined : value;
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  if (ArrayBuffer.isView(value)) return textOf(new TextDecoder().decode(value as Uint8Array));
  if (value instanceof ArrayBuffer) return textOf(new Uint8Array(value));
  if (!Array.isArray(value)) return textOfAttribute(value ?? {});
  if (value.length > 0 && value.every(isByte)) return textOf(Uint8Array.from(value));
  const texts = value.flatMap((item) => textOf(item) ?? []);
  return texts.length > 0 ? texts : undefined;
}

/** A value with its type beside it. */
interface MessageAttribute {
  readonly type?: unknown;
  readonly data?: unknown;
  readonly StringValue?: unknown;
  readonly stringValue?: unknown;
}

/** Reads a `Buffer` that went through JSON, or a message attribute of SQS in the form of its client or of Lambda. */
function textOfAttribute({
  type,
  data,
  StringValue,
  stringValue,
}: MessageAttribute): string | string[] | undefined {
  if (type === 'Buffer' && Array.isArray(data)) return textOf(data);
  const text = StringValue ?? stringValue;
  return typeof text === 'string' ? textOf(text) : undefined;
}

function isByte(value: unknown): value is number {
  return Number.isInteger(value) && (value as number) >= 0 && (value as number) <= 255;
}
