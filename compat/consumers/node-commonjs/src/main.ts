import { type Platform, PLATFORMS, runScenario } from './scenario.js';

async function main(): Promise<void> {
  for (const platform of Object.keys(PLATFORMS) as Platform[]) await runScenario(platform);
}

main().catch((error: unknown) => {
  console.error(error);
  process.exitCode = 1;
});
