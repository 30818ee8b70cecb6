import { type Command, type CommandRun, SOMETHING_PENDING } from '../command.js';
import { CommandError } from '../command-error.js';
import { isLensDocument, type LensDocument } from '../lens-document.js';
import { type Cell, type Output, safe } from '../output.js';
import { SERVER_OPTIONS } from './server-options.js';

/** `nest-lens groups`. */
export const listGroups: Command = {
  summary: 'Lists the groups: which are on, and why.',
  usage: '--url http://localhost:3000',
  details:
    'Lists the groups of a process, and ends with exit code 2 if its spec names something that nobody has registered.',
  options: SERVER_OPTIONS,
  async run(run) {
    refuseWords(run, 'groups');
    const { given, output, client } = run;
    const document = await client().ask(isLensDocument);
    if (given.isSet('json')) output.json(document);
    else printDocument(output, document);
    return exitCodeOf(document);
  },
};

/** A name that is ignored would look like a filter. */
export function refuseWords({ given }: Pick<CommandRun, 'given'>, command: string): void {
  const [word] = given.words;
  if (word === undefined) return;
  const hint = `To see one group, use nest-lens group ${safe(word)}`;
  throw new CommandError(`nest-lens ${command} takes no names, and got '${safe(word)}'. ${hint}`);
}

/** The exit code that deployments check. */
export function exitCodeOf({ pending }: { readonly pending?: readonly string[] }): number {
  return pending !== undefined && pending.length > 0 ? SOMETHING_PENDING : 0;
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
    output.line(output.styled(`Warnings: ${warnings.length}, the last one ${safe(code)}.`, 'yellow'));
  }
}

export function printPending(output: Output, pending: readonly string[] = []): void {
  if (pending.length === 0) return;
  output.line(output.styled(`Pending, since nothing of that name is registered: ${listOf(pending)}`, 'red'));
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
