import { quote } from '../core/diagnostics/quote-details.js';
import { CommandError } from './command-error.js';

const UNITS: Readonly<Record<string, number>> = { ms: 0.001, s: 1, m: 60, h: 3_600, d: 86_400 };

/** Reads a time such as `90`, `90s`, `10m`, `1h` or `1d`, in seconds. */
export function readSeconds(
  option: string,
  given: string | undefined,
  otherwise: number,
  most: number,
): number {
  if (given === undefined) return otherwise;
  const [, number, unit = 's'] = /^(\d+(?:\.\d+)?)(ms|s|m|h|d)?$/.exec(given.trim()) ?? [];
  const seconds = Number(number) * (UNITS[unit] ?? NaN);
  if (seconds > 0 && seconds <= most) return seconds;
  throw new CommandError(
    `--${option} is '${quote(given)}'. Give a time such as 90s, 10m or 1h, and at most ${most}s.`,
  );
}
