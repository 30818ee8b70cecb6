import type { CommandOption } from '../command.js';

/** Options of the commands that ask a server. */
export const SERVER_OPTIONS = {
  url: {
    type: 'string',
    value: 'http://…',
    help: 'The address of the process, with the global prefix if there is one. Default: NEST_LENS_URL.',
  },
  path: { type: 'string', value: 'path', help: "introspection.path of the application. Default: 'lens'." },
  json: { type: 'boolean', help: 'Prints the answer as JSON.' },
} as const satisfies Record<string, CommandOption>;

/** How long a change lasts. */
export const DURATION_OPTION: CommandOption = {
  type: 'string',
  value: 'time',
  help: 'How long: 90s, 10m, 1h; a day at most. Default: 15m.',
};
export const DEFAULT_SECONDS = 900;
export const MAX_SECONDS = 86_400;
