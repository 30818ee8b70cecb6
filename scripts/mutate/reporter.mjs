/** Says on one line each which spec begins, and how it ends. */
export default class {
  onTestFileStart({ path }) {
    process.stdout.write(`start ${path}\n`);
  }

  onTestFileResult({ path }, { numFailingTests, testExecError }) {
    process.stdout.write(`${numFailingTests > 0 || testExecError ? 'fail' : 'pass'} ${path}\n`);
  }
}
