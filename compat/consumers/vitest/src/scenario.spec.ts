import { beforeEach, describe, it } from 'vitest';
import { resetNestLens } from 'nest-lens/testing';
import { type Platform, PLATFORMS, runScenario } from './scenario.js';

describe('an application under test', () => {
  // With `--no-isolate`, another file of the process may have registered groups before.
  beforeEach(() => resetNestLens());

  it.each(Object.keys(PLATFORMS) as Platform[])('boots, makes spans and closes on %s', async (platform) => {
    await runScenario(platform);
  });
});
