// Twenty processes on one file, and on one Redis, through two hundred changes: none may be missed, or take two seconds.
//
//   npm run fleet
//   npm run fleet -- --processes 5 --changes 50
import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { createClient } from 'redis';
import { compileRedisSource, measureFleet } from './fleet/measure-fleet.mjs';
import { startRedis } from './fleet/start-redis.mjs';

const LIMIT_MS = 2_000;
const { values } = parseArgs({
  options: {
    processes: { type: 'string', default: '20' },
    changes: { type: 'string', default: '200' },
  },
});

const folder = mkdtempSync(join(tmpdir(), 'nest-lens-fleet-'));
const file = join(folder, 'span-groups');
const redis = await startRedis(folder);
const compiled = compileRedisSource();
const client = redis && (await createClient({ url: redis.url }).connect());
try {
  /** @type {import('./fleet/measure-fleet.mjs').Phase[]} */
  const phases = [
    {
      where: { file },
      put: (/** @type {string} */ spec) => {
        writeFileSync(`${file}.new`, spec);
        renameSync(`${file}.new`, file);
      },
    },
  ];
  if (redis !== undefined) {
    phases.push({
      where: { redis: { module: compiled.module, url: redis.url } },
      put: async (spec) => {
        await client.set('nest-lens:span-groups', spec);
        await client.publish('nest-lens:span-groups', 'changed');
      },
    });
  }
  const { phases: measured, ...rest } = await measureFleet({
    processes: Number(values.processes),
    changes: Number(values.changes),
    burst: 100,
    phases,
  });
  console.table(Object.fromEntries(measured.map((phase, at) => [Object.keys(phases[at].where)[0], phase])));
  if (redis === undefined) console.log("redis-server isn't installed, so Redis was left out.");
  console.log(rest);
  const isGood = measured.every(
    ({ missed, slowestMs, burstMs, outOfOrder }) =>
      missed === 0 && outOfOrder === 0 && Math.max(slowestMs, burstMs) < LIMIT_MS,
  );
  process.exitCode = isGood && rest.keptAlive === 0 && rest.warnings.length === 0 ? 0 : 1;
} finally {
  client?.destroy();
  redis?.stop();
  rmSync(folder, { recursive: true, force: true });
  rmSync(compiled.path, { force: true });
}
