import { appendFileSync } from 'node:fs';
import { afterAll, afterEach, beforeEach, expect } from 'vitest';

// The folder of a copied spec names its place in the run, and the break that is in force: `groups.run-3.break-7`.
const [, place, inForce] = /\.run-(\d+)\.break-(\d+)\//.exec(expect.getState().testPath).map(Number);
const reached = new Set();
let hasFailed = false;

/** Each place of a file that a break can change asks for its own. */
globalThis.__isBroken = (number) => {
  reached.add(number);
  return number === inForce;
};

// The first test that fails ends the spec.
beforeEach(({ skip }) => skip(hasFailed));
afterEach(({ task }) => {
  if (task.result?.state === 'fail') hasFailed = true;
});
afterAll(() => {
  appendFileSync(process.env.MUTATE_REACHED, `${JSON.stringify({ place, reached: [...reached] })}\n`);
});
