// Runs every step of the check, also after one failed, so that one run shows everything there is to fix.
//
//   node scripts/check.mjs                  all steps
//   node scripts/check.mjs --without test   for CI, which has run the tests before
import { spawnSync } from 'node:child_process';

const STEPS = [
  'build',
  'format:check',
  'lint',
  'types',
  'cycles',
  'api:check',
  'test',
  'package:check',
  'bench:short',
];

const without = process.argv.includes('--without') ? process.argv.slice(-1) : [];
const results = STEPS.filter((step) => !without.includes(step)).map((step) => {
  const startedAt = Date.now();
  const npmCli = process.env.npm_execpath;
  if (!npmCli) throw new Error('Run this with `npm run check`: npm says where it is.');
  const { status } = spawnSync(process.execPath, [npmCli, 'run', '--silent', step], { stdio: 'inherit' });
  const seconds = ((Date.now() - startedAt) / 1000).toFixed(1);
  return { step, isGood: status === 0, seconds };
});

console.log('');
for (const { step, isGood, seconds } of results) {
  console.log(`${isGood ? 'ok    ' : 'FAILED'}  ${step.padEnd(14)} ${seconds.padStart(6)} s`);
}
process.exitCode = results.every(({ isGood }) => isGood) ? 0 : 1;
