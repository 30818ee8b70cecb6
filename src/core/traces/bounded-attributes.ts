import { printValue } from '../spans/span-exception.js';

/** Longer texts are cut. A stack trace has about 2,000 characters. */
const MAX_TEXT = 8_192;
/** Room for the ending that says how long a cut text was, so that it isn't cut again. */
const ROOM_FOR_END = 40;
const MAX_ATTRIBUTES = 200;
const MAX_ITEMS = 100;

type Scalar = string | number | boolean;

/** A text of bounded length that says how long it was. It is a copy, because a slice would keep the whole text in memory. */
export function boundedText(text: unknown): string {
  const whole = printValue(text);
  if (whole.length <= MAX_TEXT + ROOM_FOR_END) return whole;
  return `${Buffer.from(whole.slice(0, MAX_TEXT)).toString()}… (${whole.length} characters)`;
}

/** Attributes of bounded size, with values of the types that attributes may have. */
export function boundedAttributes(attributes: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const bounded: [string, unknown][] = [];
  for (const [key, value] of Object.entries(attributes)) {
    if (bounded.length >= MAX_ATTRIBUTES) break;
    if (Array.isArray(value)) bounded.push([boundedText(key), value.slice(0, MAX_ITEMS).map(boundedScalar)]);
    else if (value !== undefined) bounded.push([boundedText(key), boundedScalar(value)]);
  }
  // Made from entries, so that a key named `__proto__` is an ordinary key.
  return Object.fromEntries(bounded);
}

function boundedScalar(value: unknown): Scalar | null {
  if (value === null || value === undefined) return null;
  if (typeof value === 'boolean' || Number.isFinite(value)) return value as Scalar;
  return boundedText(typeof value === 'object' ? 'an object' : value);
}

/** The memory that attributes take, roughly, in bytes of text. It runs for each span, so it looks only as deep as necessary. */
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
