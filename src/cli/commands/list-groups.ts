import type { Command } from '../command.js';
import { refuseWords } from '../command-arguments.js';
import { exitCodeOf } from '../exit-code.js';
import { isLensDocument } from '../lens-document.js';
import { printAnswer, printDocument } from '../print-document.js';
import { SERVER_OPTIONS } from './server-options.js';

/** `nest-lens groups`. */
export const listGroups: Command = {
  summary: 'Lists the groups: which are on, and why.',
  usage: '--url http://localhost:3000',
  details:
    'Lists the groups of a process, and ends with exit code 2 if its spec names something that nobody has registered.',
  options: SERVER_OPTIONS,
  async run(run) {
    refuseWords(run.given, 'groups');
    const document = await run.client().ask(isLensDocument);
    printAnswer(run, document, printDocument);
    return exitCodeOf(document);
  },
};
