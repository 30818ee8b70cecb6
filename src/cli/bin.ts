#!/usr/bin/env node
/** `npx nest-lens`. */
import { runCommandLine } from './run-command-line.js';

// Whoever reads may have had enough: `nest-lens groups | head -1`.
process.stdout.on('error', () => process.exit());

void runCommandLine(process.argv.slice(2), process).then((code) => {
  process.exitCode = code;
});
