import type { CommandRun } from './command.js';
import type { LensDocument } from './lens-document.js';
import { type Cell, type Output, safe } from './output.js';

/** Prints an answer: as JSON with --json, else by `print`. */
export function printAnswer<T>(
  { given, output }: CommandRun,
  answer: T,
  print: (output: Output, answer: T) => void,
): void {
  if (given.isSet('json')) output.json(answer);
  else print(output, answer);
}

/** The document as a table, with remarks. */
export function printDocument(output: Output, document: LensDocument): void {
  const { groups, warnings, telemetry } = document;
  output.table(
    ['GROUP', 'IS', 'BECAUSE OF', 'SITES', 'PRESETS'],
    groups.map(({ name, enabled, because, sites, presets }) => [
      safe(name),
      stateCell(enabled),
      listOf(because),
      String(sites),
      listOf(presets),
    ]),
  );
  output.line();
  output.line(describeSpec(document));
  if (!telemetry.enabled) output.line(output.styled('Telemetry is disabled in this process.', 'yellow'));
  else if (!telemetry.exporting) output.line(output.styled('Spans are made, but not exported.', 'yellow'));
  printPending(output, document.pending);
  if (warnings.length > 0) {
    const { code } = warnings.at(-1)!;
    output.line(output.styled(`Warnings: ${warnings.length}, the last one is ${safe(code)}.`, 'yellow'));
  }
}

export function printPending(output: Output, pending: readonly string[] = []): void {
  if (pending.length === 0) return;
  output.line(
    output.styled(`Pending, because nothing of that name is registered: ${listOf(pending)}`, 'red'),
  );
}

/** The spec in force, its origin and its end. */
export function describeSpec({ spec }: LensDocument): string {
  if (spec.pinned) return 'The groups are pinned.';
  const { override } = spec;
  if (override === null) return `Spec: ${safe(spec.active) || '(empty)'}, from ${safe(spec.source)}`;
  const end = override.expiresAt === null ? 'without an end' : `until ${safe(override.expiresAt)}`;
  return `Spec: ${safe(override.spec) || '(empty)'}, an override ${end}`;
}

export function stateCell(enabled: boolean): Cell {
  return enabled ? { text: 'on', style: 'green' } : { text: 'off', style: 'dim' };
}

export function listOf(names: readonly string[]): string {
  return names.map((name) => safe(name)).join(', ');
}
