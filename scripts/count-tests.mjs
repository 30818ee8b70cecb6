// Prints `N passed, N failed` from the JSON that jest wrote. A test file that could not even start counts as failed.
import { readFileSync } from 'node:fs';

let results;
try {
  results = JSON.parse(readFileSync(process.argv[2], 'utf8'));
} catch (error) {
  console.error(`No test ran: ${error.message}`);
}
const passed = results?.numPassedTests ?? 0;
const failed = (results?.numFailedTests ?? 0) + (results?.numRuntimeErrorTestSuites ?? 0);
console.log(`${passed} passed, ${failed} failed`);
process.exitCode = passed > 0 && failed === 0 ? 0 : 1;
