import { nearestName } from '../core/groups/nearest-name.js';
import { VERSION } from '../core/state/version.js';
import type { Command } from './command.js';
import { readArguments } from './command-arguments.js';
import { CommandError } from './command-error.js';
import { turnOff, turnOn } from './commands/change-groups.js';
import { listGroups } from './commands/list-groups.js';
import { previewGroups } from './commands/preview-groups.js';
import { showGroup } from './commands/show-group.js';
import { signGroups } from './commands/sign-groups.js';
import { watchGroups } from './commands/watch-groups.js';
import { DONE, FAILED } from './exit-code.js';
import { helpOf, helpOfAll } from './help-text.js';
import { LensClient } from './lens-client.js';
import { type CommandHost, Output, safe } from './output.js';

const COMMANDS: Readonly<Record<string, Command>> = {
  groups: listGroups,
  group: showGroup,
  on: turnOn,
  off: turnOff,
  preview: previewGroups,
  watch: watchGroups,
  sign: signGroups,
};

/**
 * Runs `nest-lens` with the arguments that follow it.
 *
 * @returns the exit code: 0, 1 after an error, 2 if something is pending
 */
export async function runCommandLine(args: readonly string[], host: CommandHost): Promise<number> {
  const output = new Output(host);
  try {
    return await run(args, host, output);
  } catch (error) {
    // All other errors come from an answer that isn't NestLens's.
    const message = error instanceof CommandError ? error.message : safe(error, 500);
    output.note(`nest-lens: ${message}`);
    return FAILED;
  }
}

async function run(args: readonly string[], host: CommandHost, output: Output): Promise<number> {
  const [name, ...rest] = args;
  if (name === '--version' || name === '-v') {
    output.line(VERSION);
    return DONE;
  }
  if (name === undefined || name === '--help' || name === '-h' || name === 'help') {
    const asked = name === 'help' && rest[0] !== undefined ? commandOf(rest[0]) : undefined;
    output.line(asked === undefined ? helpOfAll(COMMANDS) : helpOf(rest[0]!, asked));
    return name === undefined ? FAILED : DONE;
  }
  const command = commandOf(name);
  const given = readArguments(name, command, rest);
  if (given.isSet('help')) {
    output.line(helpOf(name, command));
    return DONE;
  }
  const { env } = host;
  const client = (): LensClient =>
    new LensClient({
      url: given.text('url') ?? env['NEST_LENS_URL'],
      path: given.text('path'),
      token: env['NEST_LENS_TOKEN'],
    });
  return command.run({ given, output, env, client });
}

function commandOf(name: string): Command {
  if (Object.hasOwn(COMMANDS, name)) return COMMANDS[name]!;
  const names = Object.keys(COMMANDS);
  const near = nearestName(name, names);
  const hint = near === undefined ? `The commands are ${names.join(', ')}.` : `Did you mean '${near}'?`;
  throw new CommandError(`'${safe(name)}' is not a command. ${hint} See nest-lens --help`);
}
