import { parseArgs } from 'node:util';
import type { Command, CommandOption } from './command.js';
import { CommandError } from './command-error.js';
import { safe } from './output.js';

/** The arguments after the name of a command. */
export interface CommandArguments {
  /** What is no option. */
  readonly words: readonly string[];
  text(option: string): string | undefined;
  isSet(option: string): boolean;
}

/** Options of every command. */
export const HELP_OPTION: CommandOption = { type: 'boolean', short: 'h', help: 'Prints this help.' };

/** Reads the arguments after the name of a command. */
export function readArguments(name: string, command: Command, args: readonly string[]): CommandArguments {
  const options: Record<string, { type: 'string' | 'boolean'; short?: string }> = {};
  for (const [option, { type, short }] of Object.entries({ ...command.options, help: HELP_OPTION })) {
    options[option] = short === undefined ? { type } : { type, short };
  }
  try {
    const { values, positionals } = parseArgs({
      args: [...args],
      options,
      allowPositionals: true,
      strict: true,
    });
    const found = values as Readonly<Record<string, string | boolean | undefined>>;
    return {
      words: positionals,
      text: (option) => (typeof found[option] === 'string' ? found[option] : undefined),
      isSet: (option) => found[option] === true,
    };
  } catch (error) {
    // Node's messages have several sentences; the first one is the reason.
    const [reason] = (error as Error).message.split(/\.(?:\s|$)/);
    throw new CommandError(`${reason}. See nest-lens ${name} --help`);
  }
}

/** Refuses words. A name that is ignored would look like a filter. */
export function refuseWords({ words: [word] }: CommandArguments, command: string): void {
  if (word === undefined) return;
  const hint = `To see one group, use nest-lens group ${safe(word)}`;
  throw new CommandError(`nest-lens ${command} takes no names, but got '${safe(word)}'. ${hint}`);
}
