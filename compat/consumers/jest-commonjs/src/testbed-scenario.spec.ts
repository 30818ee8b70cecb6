import { type Platform, PLATFORMS } from './scenario.js';
import { runTestbedScenario } from './testbed-scenario.js';

describe('an application in a testbed', () => {
  it.each(Object.keys(PLATFORMS) as Platform[])('shows its spans as a tree on %s', async (platform) => {
    await runTestbedScenario(platform);
  });
});
