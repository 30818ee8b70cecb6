import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createClient } from 'redis';
import { compileRedisSource, measureFleet, type Phase } from '../../scripts/fleet/measure-fleet.mjs';
import { hasBroker, startBroker } from '../support/broker-servers.js';
import { makeFolder, swapIn } from '../support/spec-file.js';

// `npm run fleet` does the same with twenty processes and two hundred changes.

const hasRedis = hasBroker('redis');

describe('a fleet of six processes', () => {
  it(`obeys each change of one file${hasRedis ? ', then of one Redis,' : ''} within two seconds, in order, and none is kept alive${
    hasRedis ? '' : " (Redis is left out: it isn't installed)"
  }`, async () => {
    const file = join(makeFolder(), 'span-groups');
    const phases: Phase[] = [{ where: { file }, put: (spec) => swapIn(file, spec) }];
    const redis = hasRedis ? await startBroker('redis') : undefined;
    const url = `redis://127.0.0.1:${redis?.port}`;
    const { path, module } = compileRedisSource();
    const client = createClient({ url });
    try {
      if (redis !== undefined) {
        await client.connect();
        const put = async (spec: string): Promise<void> => {
          await client.set('nest-lens:span-groups', spec);
          await client.publish('nest-lens:span-groups', 'changed');
        };
        phases.push({ where: { redis: { module, url } }, put });
      }
      const measured = await measureFleet({ processes: 6, changes: 10, burst: 20, phases });
      for (const { missed, outOfOrder, slowestMs, burstMs } of measured.phases) {
        expect({ missed, outOfOrder }).toEqual({ missed: 0, outOfOrder: 0 });
        expect(Math.max(slowestMs, burstMs)).toBeLessThan(2_000);
      }
      expect([measured.keptAlive, measured.warnings]).toEqual([0, []]);
    } finally {
      if (client.isOpen) client.destroy();
      await redis?.stop();
      rmSync(path, { force: true });
    }
  }, 120_000);
});
