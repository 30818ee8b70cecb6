import type { Command, CommandRun } from '../command.js';
import { CommandError } from '../command-error.js';
import { readSeconds } from '../duration.js';
import { exitCodeOf } from '../exit-code.js';
import type { LensRequest } from '../lens-client.js';
import { isLensDocument } from '../lens-document.js';
import { printAnswer, printDocument } from '../print-document.js';
import { DEFAULT_SECONDS, DURATION_OPTION, MAX_SECONDS, SERVER_OPTIONS } from './server-options.js';

const ONE_PROCESS = 'Only the process that answers is changed.';

/** `nest-lens on`. */
export const turnOn: Command = {
  summary: 'Puts another spec in force for a while.',
  usage: '<spec> --for 15m --url http://localhost:3000',
  details:
    `Turns exactly those groups on that the spec selects (groups, presets, wildcards, exclusions), for a while. ${ONE_PROCESS}\n` +
    'With --add, what is on now stays on.',
  options: {
    ...SERVER_OPTIONS,
    for: DURATION_OPTION,
    add: { type: 'boolean', help: 'Adds to the spec in force instead of replacing it.' },
  },
  async run(run) {
    const entries = entriesOf(run);
    if (entries === '') throw new CommandError('Name the groups to turn on. See nest-lens on --help');
    const spec = run.given.isSet('add') ? withEntries(await activeSpec(run), entries) : entries;
    return override(run, spec);
  },
};

/** `nest-lens off`. */
export const turnOff: Command = {
  summary: 'Ends the override, or turns some groups off for a while.',
  usage: '[<group> …] --url http://localhost:3000',
  details:
    'Without a name it ends the override at once, so the configured spec is in force again.\n' +
    `With names (groups, presets, wildcards) it turns those off for a while, and leaves the rest as it is. ${ONE_PROCESS}`,
  options: { ...SERVER_OPTIONS, for: DURATION_OPTION },
  async run(run) {
    const entries = entriesOf(run);
    if (entries !== '') {
      const excluded = entries.split(',').map((entry) => `-${entry.replace(/^-/, '')}`);
      return override(run, withEntries(await activeSpec(run), excluded.join(',')));
    }
    return change(run, { method: 'DELETE' });
  },
};

function entriesOf({ given }: CommandRun): string {
  return given.words
    .flatMap((word) => word.split(','))
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '')
    .join(',');
}

async function activeSpec(run: CommandRun): Promise<string> {
  const { spec } = await run.client().ask(isLensDocument);
  return spec.active;
}

/** The spec with entries added. Exclusions apply last, so the exclusion of an added entry is removed. */
function withEntries(active: string, entries: string): string {
  const added = entries.split(',');
  const opposite = (entry: string): string => (entry.startsWith('-') ? entry.slice(1) : `-${entry}`);
  const gone = new Set(added.map((entry) => opposite(entry).toLowerCase()));
  const kept = active
    .split(',')
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '' && !gone.has(entry.toLowerCase()));
  return [...new Set([...kept, ...added])].join(',');
}

function override(run: CommandRun, spec: string): Promise<number> {
  const ttlSeconds = readSeconds('for', run.given.text('for'), DEFAULT_SECONDS, MAX_SECONDS);
  return change(run, { method: 'PUT', body: { spec, ttlSeconds } });
}

async function change(run: CommandRun, request: LensRequest): Promise<number> {
  const document = await run.client().ask(isLensDocument, request);
  printAnswer(run, document, printDocument);
  return exitCodeOf(document);
}
