import { setTimeout as delay } from 'node:timers/promises';
import type { Command } from '../command.js';
import { refuseWords } from '../command-arguments.js';
import { CommandError } from '../command-error.js';
import { readSeconds } from '../duration.js';
import { exitCodeOf } from '../exit-code.js';
import { isLensDocument, type LensDocument } from '../lens-document.js';
import { safe } from '../output.js';
import { describeSpec, printDocument } from '../print-document.js';
import { SERVER_OPTIONS } from './server-options.js';

const DEFAULT_EVERY_SECONDS = 2;
const MAX_EVERY_SECONDS = 3_600;

/** `nest-lens watch`. */
export const watchGroups: Command = {
  summary: 'Shows the groups, and each change of them, until Ctrl-C.',
  usage: '--url http://localhost:3000',
  details:
    'Shows the groups, then a line for each change: what went on or off, by which spec. It ends at Ctrl-C, with exit code 2 if\n' +
    'something is pending then. It says when the server stops answering, and when it answers again. With --json each document is\n' +
    'one line.',
  options: {
    ...SERVER_OPTIONS,
    every: { type: 'string', value: 'time', help: 'How often the server is asked. Default: 2s.' },
  },
  async run({ given, output, client: connect }) {
    refuseWords(given, 'watch');
    const every = readSeconds('every', given.text('every'), DEFAULT_EVERY_SECONDS, MAX_EVERY_SECONDS);
    const client = connect();
    const ending = new AbortController();
    const end = (): void => ending.abort();
    const { signal } = ending;
    for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, end);
    const asJson = given.isSet('json');
    let shown = await client.ask(isLensDocument);
    if (asJson) output.line(JSON.stringify(shown));
    else printDocument(output, shown);
    let isAway = false;
    while (!signal.aborted) {
      await delay(every * 1_000, undefined, { signal }).catch(() => undefined);
      if (signal.aborted) break;
      try {
        const now = await client.ask(isLensDocument, { signal });
        if (isAway) output.note(`${time()} The server answers again.`);
        isAway = false;
        const changes = changesBetween(shown, now);
        shown = now;
        if (changes.length === 0) continue;
        if (asJson) output.line(JSON.stringify(now));
        else for (const change of changes) output.line(`${time()} ${change}`);
      } catch (error) {
        if (signal.aborted) break;
        if (!(error instanceof CommandError)) throw error;
        if (!isAway) output.note(`${time()} ${error.message}`);
        isAway = true;
      }
    }
    return exitCodeOf(shown);
  },
};

function time(): string {
  return new Date().toISOString().slice(11, 19);
}

function authorOf({ changes }: LensDocument): string {
  const by = changes?.at(-1)?.by ?? null;
  return by === null ? '' : `, by ${safe(by)}`;
}

/** The differences, a line for each. */
function changesBetween(before: LensDocument, now: LensDocument): string[] {
  const stateOf = ({ groups }: LensDocument): Map<string, boolean> =>
    new Map(groups.map(({ name, enabled }) => [name, enabled]));
  const [was, is] = [stateOf(before), stateOf(now)];
  const spec = describeSpec(now);
  return [
    ...(describeSpec(before) === spec ? [] : [`${spec}${authorOf(now)}`]),
    ...[...is]
      .filter(([name, on]) => on !== (was.get(name) ?? false))
      .map(([name, on]) => `${safe(name)} is ${on ? 'on' : 'off'}`),
    ...[...was.keys()].filter((name) => !is.has(name)).map((name) => `${safe(name)} is no longer registered`),
    ...now.pending.filter((name) => !before.pending.includes(name)).map((name) => `${safe(name)} is pending`),
  ];
}
