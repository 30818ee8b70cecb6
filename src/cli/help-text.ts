import { HELP_OPTION } from './command-arguments.js';
import type { Command, CommandOption } from './command.js';

/** The help of `nest-lens` itself. */
export function helpOfAll(commands: Readonly<Record<string, Command>>): string {
  return [
    'Usage: nest-lens <command> [options]',
    '',
    'Shows and changes which span groups of a running application are on.',
    '',
    ...inColumns(Object.entries(commands).map(([name, { summary }]) => [name, summary])),
    '',
    'Every command has --help. Exit codes: 0 done; 1 error; 2 a name in the spec is not registered in the process (pending).',
    'Environment: NEST_LENS_URL, in place of --url; NEST_LENS_TOKEN, sent as "Authorization: Bearer …"; NEST_LENS_SIGNING_KEY, for sign.',
  ].join('\n');
}

/** The help of one command. */
export function helpOf(name: string, { usage, details, options }: Command): string {
  const described = Object.entries({ ...options, help: HELP_OPTION });
  return [
    `Usage: nest-lens ${name}${usage === '' ? '' : ` ${usage}`}`,
    '',
    details,
    '',
    ...inColumns(described.map(([option, about]) => [flagOf(option, about), about.help])),
  ].join('\n');
}

function flagOf(option: string, { short, value }: CommandOption): string {
  const long = value === undefined ? `--${option}` : `--${option} <${value}>`;
  return short === undefined ? long : `${long}, -${short}`;
}

function inColumns(rows: readonly (readonly string[])[]): string[] {
  const width = Math.max(...rows.map(([left]) => left!.length));
  return rows.map(([left, right]) => `  ${left!.padEnd(width)}  ${right}`);
}
