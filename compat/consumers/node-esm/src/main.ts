import { type Platform, PLATFORMS, runScenario } from './scenario.js';

for (const platform of Object.keys(PLATFORMS) as Platform[]) await runScenario(platform);
