/** Says on one line each which spec begins, and how it ends. */
export default class {
  onTestModuleStart({ moduleId }) {
    process.stdout.write(`start ${moduleId}\n`);
  }

  onTestModuleEnd(spec) {
    process.stdout.write(`${spec.ok() ? 'pass' : 'fail'} ${spec.moduleId}\n`);
  }
}
