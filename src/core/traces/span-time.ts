import type { HrTime } from '@opentelemetry/api';

/** The farthest time that a `Date` can tell, in milliseconds. */
const MAX_DATE_MS = 8.64e15;

/** A time of OpenTelemetry, seconds and nanoseconds, in milliseconds. What is no time counts as 0: an application can set any. */
export function milliseconds([seconds, nanoseconds]: HrTime): number {
  const ms = seconds * 1e3 + nanoseconds / 1e6;
  return ms >= 0 && ms <= MAX_DATE_MS ? ms : 0;
}

/** A time in ISO 8601 with microseconds, which a `Date` has no room for: `2026-11-29T12:00:00.123456Z`. */
export function isoTime(ms: number): string {
  const micros = Math.round(ms * 1e3);
  const iso = new Date(Math.floor(micros / 1e3)).toISOString();
  return `${iso.slice(0, -1)}${String(micros % 1e3).padStart(3, '0')}Z`;
}

/** A length of time to microseconds: what is behind them is noise of the clock. */
export function microseconds(ms: number): number {
  return Math.round(ms * 1e3) / 1e3;
}
