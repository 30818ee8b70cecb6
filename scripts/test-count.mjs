// Counts the tests that really ran. As a reporter of jest it keeps the count in temp/test-count.json, brought up to date
// after each file: a test that ends the whole process leaves the count of those before it. As a program it prints
// `N passed, N failed` as its last line, and fails unless the run came to its end with every test passed.
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';

const countFile = fileURLToPath(new URL('../temp/test-count.json', import.meta.url));

export default class TestCountReporter {
  onRunStart() {
    mkdirSync(dirname(countFile), { recursive: true });
    rmSync(countFile, { force: true });
  }

  onTestFileResult(_test, _result, results) {
    this.#write(results, false);
  }

  onRunComplete(_contexts, results) {
    this.#write(results, true);
  }

  #write({ numPassedTests, numFailedTests, numRuntimeErrorTestSuites }, isComplete) {
    // A file that could not even start has no tests to count, but it must not go unnoticed.
    const failed = numFailedTests + numRuntimeErrorTestSuites;
    writeFileSync(countFile, JSON.stringify({ passed: numPassedTests, failed, isComplete }));
  }
}

function printCount() {
  let count = { passed: 0, failed: 0, isComplete: false };
  try {
    count = JSON.parse(readFileSync(countFile, 'utf8'));
  } catch (error) {
    console.error(`No test ran: ${error.message}`);
  }
  const { passed, failed, isComplete } = count;
  if (!isComplete) console.error('The tests did not run to the end.');
  console.log(`${passed} passed, ${failed} failed`);
  process.exitCode = isComplete && passed > 0 && failed === 0 ? 0 : 1;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) printCount();
