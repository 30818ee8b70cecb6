import { describe, it } from 'vitest';
import { type Platform, PLATFORMS, runScenario } from './scenario.js';

describe('an application under test', () => {
  it.each(Object.keys(PLATFORMS) as Platform[])('boots, makes spans and closes on %s', async (platform) => {
    await runScenario(platform);
  });
});
