import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';

/** The README that is in the package. */
const README = new URL('node_modules/nest-lens/README.md', import.meta.url);
const AT_MOST = 5;

/**
 * What README's quickstart tells a newcomer to type: the commands of its first block up to the trace, and the one of its second
 * block, which starts the application with the group off.
 */
export function quickstartCommands() {
  const [, section = ''] = readFileSync(README, 'utf8').split(/^## Quickstart$/m);
  const [first = '', second = ''] = [...section.matchAll(/^```sh\n(.*?)^```$/gms)].map(([, text]) => text);
  const upToTheTrace = commandsOf(first);
  const switchedOff = commandsOf(second);
  assert.ok(
    upToTheTrace.length > 0 && upToTheTrace.length <= AT_MOST,
    `commands: ${upToTheTrace.join('; ')}`,
  );
  assert.equal(switchedOff.length, 1, `switching takes: ${switchedOff.join('; ')}`);
  return { upToTheTrace, switchedOff: switchedOff[0] };
}

/** One a line, without comments. @param {string} block */
const commandsOf = (block) =>
  block
    .split('\n')
    .map((line) => line.replace(/\s+#.*$/, '').trim())
    .filter((line) => line !== '');
