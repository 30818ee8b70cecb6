import { setLensLogger, type LensWarning } from 'nest-lens/core';

/** The warnings that the library logged since `captureWarnings()`. */
export interface CapturedWarnings {
  readonly all: readonly LensWarning[];
  codes(): string[];
  /** The codes since the last `take()`: what one step of a test logged. */
  take(): string[];
  /** The single warning with this code; throws unless there is exactly one. */
  single(code: string): LensWarning;
}

/** Collects every warning of the library until the logger is set again. */
export function captureWarnings(): CapturedWarnings {
  const all: LensWarning[] = [];
  let taken = 0;
  setLensLogger({
    warn(message, warning) {
      if (message !== warning.message) throw new Error(`two texts for one warning: ${message}`);
      all.push(warning);
    },
  });
  return {
    all,
    codes: () => all.map((warning) => warning.code),
    take() {
      const codes = all.slice(taken).map((warning) => warning.code);
      taken = all.length;
      return codes;
    },
    single(code) {
      const found = all.filter((warning) => warning.code === code);
      if (found.length !== 1) {
        throw new Error(`expected one ${code}, saw ${JSON.stringify(all.map((warning) => warning.code))}`);
      }
      return found[0]!;
    },
  };
}
