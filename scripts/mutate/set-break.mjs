import { afterEach, beforeEach, expect } from 'vitest';

// The folder of a copied spec names the break that is in force: `groups.break-7`.
const found = /\.break-(\d+)\//.exec(expect.getState().testPath);
if (found) globalThis.__break = Number(found[1]);

let hasFailed = false;

// The first test that fails ends the spec.
beforeEach(({ skip }) => skip(hasFailed));
afterEach(({ task }) => {
  if (task.result?.state === 'fail') hasFailed = true;
});
