import { vi } from 'vitest';

/** Keeps what is written to standard output from it, and tells the lines of JSON: the spans that exporter `console` prints. */
export function interceptPrintedSpans(): { lines(): string[]; restore(): void } {
  const written: string[] = [];
  const spy = vi.spyOn(process.stdout, 'write').mockImplementation((chunk) => {
    written.push(String(chunk));
    return true;
  });
  return {
    lines: () =>
      written
        .join('')
        .split('\n')
        .filter((line) => line.startsWith('{')),
    restore: () => spy.mockRestore(),
  };
}
