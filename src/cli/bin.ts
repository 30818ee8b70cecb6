#!/usr/bin/env node
/** `npx nest-lens`. */
import { runCommandLine } from './run-command-line.js';

// The reader of the output may end early: `nest-lens groups | head -1`.
process.stdout.on('error', () => process.exit());

void runCommandLine(process.argv.slice(2), process).then((code) => {
  process.exitCode = code;
});
