import { signSpanGroups } from '../../core/opt-in/sign-span-groups.js';
import type { Command } from '../command.js';
import { CommandError } from '../command-error.js';
import { readSeconds } from '../duration.js';
import { DONE } from '../exit-code.js';
import { DEFAULT_SECONDS, DURATION_OPTION, MAX_SECONDS, SERVER_OPTIONS } from './server-options.js';

const KEY_VARIABLE = 'NEST_LENS_SIGNING_KEY';

/** `nest-lens sign`. */
export const signGroups: Command = {
  summary: 'Signs a header that turns groups on for one request.',
  usage: '--groups <spec> --for 10m',
  details:
    'Prints the value of the header x-lens-groups, which turns groups on for the requests that carry it. The application needs the\n' +
    `key in its option requestOptIn. The command reads the key from ${KEY_VARIABLE}. Anyone who sees the header can use it until it expires.\n\n` +
    '  curl localhost:3000/orders -H "x-lens-groups: $(npx nest-lens sign --groups db_query --for 10m)"',
  options: {
    groups: {
      type: 'string',
      value: 'spec',
      help: 'What to turn on: groups, presets, wildcards, exclusions.',
    },
    for: DURATION_OPTION,
    json: { ...SERVER_OPTIONS.json, help: 'Prints { header, value, expiresAt }.' },
  },
  run({ given, output, env }) {
    const spec = [given.text('groups') ?? '', ...given.words].filter((part) => part.trim() !== '').join(',');
    if (spec === '')
      throw new CommandError('Name the groups to turn on: --groups db_query. See nest-lens sign --help');
    const key = env[KEY_VARIABLE] ?? '';
    if (key === '')
      throw new CommandError(`${KEY_VARIABLE} is not set: put the key of requestOptIn into it.`);
    const seconds = readSeconds('for', given.text('for'), DEFAULT_SECONDS, MAX_SECONDS);
    const value = sign(spec, key, seconds);
    if (!given.isSet('json')) output.line(value);
    else {
      const expiresAt = new Date(Number(/;exp=(\d+)/.exec(value)?.[1])).toISOString();
      output.json({ header: 'x-lens-groups', value, expiresAt });
    }
    return Promise.resolve(DONE);
  },
};

function sign(spec: string, key: string, seconds: number): string {
  try {
    return signSpanGroups(spec, { key, ttlMs: seconds * 1_000 });
  } catch (error) {
    throw new CommandError((error as Error).message);
  }
}
