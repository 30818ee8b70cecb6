import { TestEnvironment } from 'jest-environment-node';

/** The folder of a copied spec names the break that is in force: `groups.break-7`. The first test that fails ends the spec. */
export default class extends TestEnvironment {
  constructor(config, context) {
    super(config, context);
    const found = /\.break-(\d+)\//.exec(context.testPath);
    if (found) this.global.__break = Number(found[1]);
  }

  handleTestEvent({ name, test }) {
    if (name === 'test_done' && test.errors.length > 0) this.hasFailed = true;
    if (name === 'test_start' && this.hasFailed) test.mode = 'skip';
  }
}
