import type { CommandArguments } from './command-arguments.js';
import type { LensClient } from './lens-client.js';
import type { Output } from './output.js';

/** The tools of a running command. */
export interface CommandRun {
  readonly given: CommandArguments;
  readonly output: Output;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Made at the first use, because not every command talks to a server. */
  readonly client: () => LensClient;
}

/** An option of a command, in the form of `parseArgs`, with its help. */
export interface CommandOption {
  readonly type: 'string' | 'boolean';
  readonly short?: string;
  /** The placeholder for the value in the help. */
  readonly value?: string;
  readonly help: string;
}

/** One command of `npx nest-lens`. */
export interface Command {
  /** One line for the list of commands. */
  readonly summary: string;
  /** The text after `nest-lens`. */
  readonly usage: string;
  /** The rest of its help. */
  readonly details: string;
  readonly options: Readonly<Record<string, CommandOption>>;
  /** @returns the exit code */
  run(run: CommandRun): Promise<number>;
}
