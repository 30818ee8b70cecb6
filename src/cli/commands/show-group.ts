import type { Command } from '../command.js';
import { CommandError } from '../command-error.js';
import { isLensGroup } from '../lens-document.js';
import { safe } from '../output.js';
import { listOf, stateCell } from './list-groups.js';
import { SERVER_OPTIONS } from './server-options.js';

/** `nest-lens group`. */
export const showGroup: Command = {
  summary: 'Shows one group with its sites.',
  usage: '<name> --url http://localhost:3000',
  details:
    'Shows one group: its sites and routes, who has registered it, why it is on, and what would turn it on.',
  options: SERVER_OPTIONS,
  async run({ given, output, client }) {
    const [name, ...others] = given.words;
    if (name === undefined || others.length > 0) {
      throw new CommandError('Name one group. See nest-lens group --help');
    }
    const group = await client().ask(isLensGroup, { path: `/${encodeURIComponent(name)}` });
    if (given.isSet('json')) {
      output.json(group);
      return 0;
    }
    const state = stateCell(group.enabled);
    output.table(
      [safe(group.name), ''],
      [
        ['is', state],
        ['because of', listOf(group.because)],
        ['turned on by', listOf(group.turnedOnBy ?? [])],
        ['presets', listOf(group.presets)],
        ['registered by', listOf(group.namespaces)],
      ],
    );
    const sites = group.siteList ?? [];
    if (sites.length === 0) return 0;
    output.line();
    output.table(
      ['SITE', 'KIND', 'ROUTE'],
      sites.map(({ name: site, kind, route }) => [safe(site), safe(kind), safe(route ?? '')]),
    );
    return 0;
  },
};
