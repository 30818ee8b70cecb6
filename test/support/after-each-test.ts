type CleanUp = () => unknown;

const cleanUps: CleanUp[] = [];

/**
 * Has something done after each test of every file. A module of `test/support` calls it when it is loaded. An `afterEach` there would
 * only serve the first file that imports the module: files share their process, and modules are loaded once.
 */
export function afterEachTest(cleanUp: CleanUp): void {
  cleanUps.push(cleanUp);
}

/** For the set-up file. */
export async function cleanUpAfterTest(): Promise<void> {
  for (const cleanUp of cleanUps) await cleanUp();
}
