import type { Command, CommandRun } from '../command.js';
import { CommandError } from '../command-error.js';
import { readSeconds } from '../duration.js';
import { exitCodeOf } from '../exit-code.js';
import { isLensPreview, type LensPreview } from '../lens-document.js';
import { type Output, safe } from '../output.js';
import { printAnswer, printPending } from '../print-document.js';
import { SERVER_OPTIONS } from './server-options.js';

const DEFAULT_PREVIEW_SECONDS = 30;
const MAX_PREVIEW_SECONDS = 300;
/** An answer may take this much longer than the preview, in milliseconds. */
const GRACE_MS = 15_000;
const SITES_SHOWN = 3;

/** `nest-lens preview`. */
export const previewGroups: Command = {
  summary: 'Counts what groups would cost, before they are on.',
  usage: '[<spec>] --seconds 30 --url http://localhost:3000',
  details:
    'Counts for a while how many spans each group would make, whether it is on or off, and estimates the bytes to export.\n' +
    'It turns nothing on. Without a spec it counts every group.',
  options: {
    ...SERVER_OPTIONS,
    seconds: { type: 'string', value: 'time', help: 'How long: 30, 45s, 2m; 5m at most. Default: 30.' },
  },
  async run(run) {
    const asked = run.given.text('seconds');
    const seconds = readSeconds('seconds', asked, DEFAULT_PREVIEW_SECONDS, MAX_PREVIEW_SECONDS);
    const report = await count(run, seconds);
    printAnswer(run, report, printPreview);
    return exitCodeOf(report);
  },
};

async function count({ given, output, client }: CommandRun, seconds: number): Promise<LensPreview> {
  const showsProgress = output.isTerminal && !given.isSet('json');
  const request = {
    method: 'POST',
    path: '/preview',
    body: { seconds, spec: given.words.join(',') || 'all' },
    withinMs: seconds * 1_000 + GRACE_MS,
  } as const;
  for await (const { event, data } of client().events(request)) {
    if (!isLensPreview(data)) continue;
    if (event === 'done') {
      if (showsProgress) output.note('');
      return data;
    }
    if (showsProgress) {
      output.progress(
        `${Math.round(data.seconds)} of ${seconds} s: ${data.spans} spans, ${data.perSecond} per second`,
      );
    }
  }
  throw new CommandError('The preview ended without a result. Did the application close?');
}

function printPreview(
  output: Output,
  { seconds, spans, perSecond, bytesPerSecond, groups, pending }: LensPreview,
): void {
  output.table(
    ['GROUP', 'SPANS', 'PER SECOND', 'BUSIEST SITES'],
    groups.map(({ name, spans: ofGroup, perSecond: rate, sites }) => [
      safe(name),
      String(ofGroup),
      String(rate),
      sites
        .slice(0, SITES_SHOWN)
        .map((site) => `${safe(site.name)} ${site.spans}`)
        .join(', '),
    ]),
  );
  output.line();
  const size =
    bytesPerSecond < 10_000
      ? `${Math.round(bytesPerSecond)} bytes`
      : `${Math.round(bytesPerSecond / 1_000)} KB`;
  output.line(
    `In ${seconds} s: ${spans} spans, ${perSecond} per second; about ${size} per second to export.`,
  );
  printPending(output, pending);
}
