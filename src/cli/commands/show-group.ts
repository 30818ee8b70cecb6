import type { Command } from '../command.js';
import { CommandError } from '../command-error.js';
import { DONE } from '../exit-code.js';
import { isLensGroup, type LensGroup } from '../lens-document.js';
import { type Output, safe } from '../output.js';
import { listOf, printAnswer, stateCell } from '../print-document.js';
import { SERVER_OPTIONS } from './server-options.js';

/** `nest-lens group`. */
export const showGroup: Command = {
  summary: 'Shows one group with its sites.',
  usage: '<name> --url http://localhost:3000',
  details:
    'Shows one group: its sites and routes, who registered it, why it is on, and what would turn it on.',
  options: SERVER_OPTIONS,
  async run(run) {
    const [name, ...others] = run.given.words;
    if (name === undefined || others.length > 0) {
      throw new CommandError('Name one group. See nest-lens group --help');
    }
    const path = `/${encodeURIComponent(name)}`;
    printAnswer(run, await run.client().ask(isLensGroup, { path }), printGroup);
    return DONE;
  },
};

function printGroup(output: Output, group: LensGroup): void {
  output.table(
    [safe(group.name), ''],
    [
      ['is', stateCell(group.enabled)],
      ['because of', listOf(group.because)],
      ['turned on by', listOf(group.turnedOnBy ?? [])],
      ['presets', listOf(group.presets)],
      ['registered by', listOf(group.namespaces)],
    ],
  );
  const sites = group.siteList ?? [];
  if (sites.length === 0) return;
  output.line();
  output.table(
    ['SITE', 'KIND', 'ROUTE'],
    sites.map(({ name, kind, route }) => [safe(name), safe(kind), safe(route ?? '')]),
  );
}
