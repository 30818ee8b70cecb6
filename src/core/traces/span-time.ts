import type { HrTime } from '@opentelemetry/api';

/** The latest time that a `Date` can hold, in milliseconds. */
const MAX_DATE_MS = 8.64e15;

/**
 * Converts a time of OpenTelemetry, seconds and nanoseconds, to milliseconds. Invalid values count as 0, because an
 * application can set any.
 */
export function milliseconds([seconds, nanoseconds]: HrTime): number {
  const ms = seconds * 1e3 + nanoseconds / 1e6;
  return ms >= 0 && ms <= MAX_DATE_MS ? ms : 0;
}

/** A time in ISO 8601 with microseconds, which a `Date` can't print: `2026-11-29T12:00:00.123456Z`. */
export function isoTime(ms: number): string {
  const micros = Math.round(ms * 1e3);
  const iso = new Date(Math.floor(micros / 1e3)).toISOString();
  return `${iso.slice(0, -1)}${String(micros % 1e3).padStart(3, '0')}Z`;
}

/** Rounds a duration to microseconds. Smaller differences are clock noise. */
export function microseconds(ms: number): number {
  return Math.round(ms * 1e3) / 1e3;
}
