import { printValue } from '../spans/span-exception.js';

/** Longer texts are cut, in characters. A stack trace has about 2,000. */
const MAX_TEXT = 8_192;
/** For what a cut text says at its end, so that it isn't cut again. */
const ROOM_FOR_END = 40;
const MAX_ATTRIBUTES = 200;
const MAX_ITEMS = 100;

type Scalar = string | number | boolean;

/** A text of bounded length, which says how long it was. A copy: a part of a text would keep the whole of it in memory. */
export function boundedText(text: unknown): string {
  const whole = printValue(text);
  if (whole.length <= MAX_TEXT + ROOM_FOR_END) return whole;
  return `${Buffer.from(whole.slice(0, MAX_TEXT)).toString()}… (${whole.length} characters)`;
}

/** Attributes of bounded size: everything that an attribute can be, and nothing else. */
export function boundedAttributes(attributes: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const bounded: [string, unknown][] = [];
  for (const [key, value] of Object.entries(attributes)) {
    if (bounded.length >= MAX_ATTRIBUTES) break;
    if (Array.isArray(value)) bounded.push([boundedText(key), value.slice(0, MAX_ITEMS).map(boundedScalar)]);
    else if (value !== undefined) bounded.push([boundedText(key), boundedScalar(value)]);
  }
  // From entries, so that a key named `__proto__` is one like any other.
  return Object.fromEntries(bounded);
}

function boundedScalar(value: unknown): Scalar | null {
  if (value === null || value === undefined) return null;
  if (typeof value === 'boolean' || Number.isFinite(value)) return value as Scalar;
  return boundedText(typeof value === 'object' ? 'an object' : value);
}

/** What attributes take in memory, about, in bytes: their texts. Looked at for each span, so only as deep as need be. */
export function bytesOfAttributes(attributes: Readonly<Record<string, unknown>> | undefined): number {
  let bytes = 0;
  for (const key in attributes) bytes += 16 + key.length + bytesOfValue(attributes[key]);
  return bytes;
}

function bytesOfValue(value: unknown): number {
  if (typeof value === 'string') return value.length;
  if (!Array.isArray(value)) return 8;
  let bytes = 16;
  for (const item of value) bytes += typeof item === 'string' ? 16 + item.length : 8;
  return bytes;
}
