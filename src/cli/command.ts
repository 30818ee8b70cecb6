import type { CommandArguments } from './command-arguments.js';
import type { LensClient } from './lens-client.js';
import type { Output } from './output.js';

/** What a command does its work with. */
export interface CommandRun {
  readonly given: CommandArguments;
  readonly output: Output;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Made at the first use: not every command talks to a server. */
  readonly client: () => LensClient;
}

/** An option of a command, as `parseArgs` takes it, and what its help says. */
export interface CommandOption {
  readonly type: 'string' | 'boolean';
  readonly short?: string;
  /** What stands for the value in the help. */
  readonly value?: string;
  readonly help: string;
}

/** One command of `npx nest-lens`. */
export interface Command {
  /** In one line, for the list of commands. */
  readonly summary: string;
  /** What follows `nest-lens`. */
  readonly usage: string;
  /** The rest of its help. */
  readonly details: string;
  readonly options: Readonly<Record<string, CommandOption>>;
  /** @returns the exit code */
  run(run: CommandRun): Promise<number>;
}

/** The exit code where something that was asked for is registered nowhere in the process. */
export const SOMETHING_PENDING = 2;
