/** The same span of a method, made by NestLens, by hand, and by the two packages that users would pick instead. */
import { ROOMY } from './allocation.mjs';
import { runProcess } from './processes.mjs';
import { joinRounds, ratio, summarise } from './statistics.mjs';

const CONTENDERS = ['off', 'on', 'by hand', 'nestjs-otel', 'amplication'];

/** @returns {Promise<object[]>} a row for each kind of call */
export async function runPeers() {
  const rows = [];
  for (const sdk of [false, true]) {
    for (const later of [false, true]) {
      for (const count of [1, 16]) {
        const kind = { workspace: 'nest-12', primitive: 'SpanGroup', peers: true, sdk, later, count };
        const runs = [];
        for (let i = 0; i < 2; i++) {
          runs.push(await runProcess('sites.process.mjs', { ...kind, rounds: 15, slotMs: 4 }));
        }
        const rounds = joinRounds(runs);
        const bytes = await runProcess('sites.process.mjs', { ...kind, bytes: true }, { flags: ROOMY });
        rows.push({
          sdk,
          later,
          count,
          direct: summarise(rounds.direct),
          contenders: CONTENDERS.map((name) => ({
            name,
            ns: summarise(rounds[name]),
            toDirect: ratio(rounds[name], rounds.direct),
            ofOn: ratio(rounds.on, rounds[name]),
            bytes: bytes[name] - Math.min(bytes.direct, bytes['direct again']),
          })),
        });
      }
    }
  }
  return rows;
}
