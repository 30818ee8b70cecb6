/**
 * What a call costs at one site and at sixteen: directly, with its group off (after it was on) and on, and with the span
 * written by hand.
 */
import { ROOMY } from './allocation.mjs';
import { runProcess } from './processes.mjs';
import { joinRounds, ratio, summarise } from './statistics.mjs';

const PRIMITIVES = ['SpanGroup', 'traceFn', 'managedSpan', 'managedSpan, attributes', 'isSpanGroupEnabled'];

const SHORT_LIST = [
  { primitive: 'SpanGroup', later: false, count: 1 },
  { primitive: 'SpanGroup', later: false, count: 16 },
  { primitive: 'SpanGroup', later: true, count: 1 },
  { primitive: 'traceFn', later: false, count: 1 },
  { primitive: 'managedSpan', later: false, count: 1 },
];

/** @returns {{ primitive: string, later: boolean, count: number }[]} */
function listKinds(primitives) {
  return primitives.flatMap((primitive) =>
    // isSpanGroupEnabled only answers; it has nothing to await.
    (primitive === 'isSpanGroupEnabled' ? [false] : [false, true]).flatMap((later) =>
      [1, 16].map((count) => ({ primitive, later, count })),
    ),
  );
}

/** Rounds of one kind, from several processes: how V8 happens to lay out the code differs between them. */
async function measure(kind, { processes, rounds, slotMs, node }) {
  const runs = [];
  for (let i = 0; i < processes; i++) {
    runs.push(await runProcess('sites.process.mjs', { ...kind, rounds, slotMs }, { node }));
  }
  return joinRounds(runs);
}

function describe(kind, quiet, live, bytes) {
  const { primitive, later, count } = kind;
  return {
    primitive,
    later,
    count,
    direct: summarise(quiet.direct),
    again: ratio(quiet['direct again'], quiet.direct),
    off: summarise(quiet.off),
    offRatio: ratio(quiet.off, quiet.direct),
    ...(quiet.inlined && { offToInlined: ratio(quiet.off, quiet.inlined) }),
    onNoSdk: summarise(quiet.on),
    ...(quiet['by hand'] && {
      byHandNoSdk: summarise(quiet['by hand']),
      onNoSdkRatio: ratio(quiet.on, quiet['by hand']),
    }),
    ...(live && { on: summarise(live.on), offRatioWithSdk: ratio(live.off, live.direct) }),
    ...(live?.['by hand'] && {
      byHand: summarise(live['by hand']),
      onRatio: ratio(live.on, live['by hand']),
    }),
    ...(bytes && {
      offBytes: bytes.off - Math.min(bytes.direct, bytes['direct again']),
      onBytes: bytes.on - Math.min(bytes.direct, bytes['direct again']),
    }),
  };
}

/** Bytes don't depend on what else the machine does, so two processes may count theirs at a time. */
async function countBytes(kinds, node) {
  const counted = new Map();
  const waiting = [...kinds];
  const work = async () => {
    for (let kind = waiting.shift(); kind !== undefined; kind = waiting.shift()) {
      const task = { ...kind, bytes: true };
      counted.set(kind, await runProcess('sites.process.mjs', task, { flags: ROOMY, node }));
    }
  };
  await Promise.all([work(), work()]);
  return counted;
}

/**
 * @param {{ short?: boolean, node?: string }} options `node`: another Node, whose calls are measured without an SDK only
 * @returns {Promise<object[]>} a row for each kind of site
 */
export async function runSites({ short = false, node } = {}) {
  const amount = short ? { processes: 1, rounds: 8, slotMs: 2 } : { processes: 2, rounds: 15, slotMs: 4 };
  const listed = short ? SHORT_LIST : listKinds(node ? PRIMITIVES.slice(0, 3) : PRIMITIVES);
  const kinds = listed.map((kind) => ({ workspace: 'project', ...kind }));
  const measured = [];
  for (const kind of kinds) {
    const quiet = await measure(kind, { ...amount, node });
    const hasLive = !node && (short ? kind.count === 1 : kind.primitive !== 'isSpanGroupEnabled');
    // A span of the SDK makes garbage, and a collection that falls into a round disturbs it.
    const more = { ...amount, rounds: Math.ceil(amount.rounds * 1.5) };
    measured.push({ quiet, live: hasLive ? await measure({ ...kind, sdk: true }, more) : undefined });
  }
  const bytes = await countBytes(short ? kinds.filter(({ count }) => count === 1) : kinds, node);
  return kinds.map((kind, i) => describe(kind, measured[i].quiet, measured[i].live, bytes.get(kind)));
}
