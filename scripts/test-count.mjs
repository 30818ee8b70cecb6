// Counts the tests that really ran. As a reporter of Vitest it keeps the count in temp/test-count.json, brought up to date
// after each file: a test that ends the whole process leaves the count of those before it. As a program it prints
// `N passed, N failed` as its last line, and fails unless the run came to its end with every test passed.
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';

const countFile = fileURLToPath(new URL('../temp/test-count.json', import.meta.url));

export default class TestCountReporter {
  #passed = 0;
  #failed = 0;

  onTestRunStart() {
    mkdirSync(dirname(countFile), { recursive: true });
    rmSync(countFile, { force: true });
  }

  onTestModuleEnd(file) {
    this.#passed += [...file.children.allTests('passed')].length;
    this.#failed += [...file.children.allTests('failed')].length;
    // A file that could not even start has no tests to count, but it must not go unnoticed.
    this.#failed += file.errors().length;
    this.#write(false);
  }

  onTestRunEnd(_files, unhandledErrors) {
    this.#failed += unhandledErrors.length;
    this.#write(true);
  }

  #write(isComplete) {
    writeFileSync(countFile, JSON.stringify({ passed: this.#passed, failed: this.#failed, isComplete }));
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
