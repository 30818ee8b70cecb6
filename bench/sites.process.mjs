/** Measures the sites of one kind, in a process of their own: all sites of a process share the gate's code. */
import { argv } from 'node:process';
import { measureBytes } from './allocation.mjs';
import { measureInRounds } from './rounds.mjs';
import { startSdk } from './telemetry.mjs';

const { workspace, primitive, later, count, sdk, peers, bytes, rounds, slotMs } = JSON.parse(argv[2]);
const { load } = await import(`./workspaces/${workspace}/load.mjs`);
const lens = await load('nest-lens');
const { trace } = await load('@opentelemetry/api');
const provider = sdk ? await startSdk(load) : undefined;
const parts = { ...lens, tracer: trace.getTracer('bench') };
if (peers) {
  Object.assign(
    parts,
    await load('nestjs-otel'),
    await load('@amplication/opentelemetry-nestjs/dist/trace/trace-wrapper.js'),
  );
}

// Other groups are on all the time, as in an application.
const others = Array.from({ length: 10 }, (_, i) => `other_${i}`);
lens.SpanRegistry.register('bench', ['bench', ...others], { others });
/** Puts a spec in force, with room in the batch processor's queue. */
const select = (spec) => async () => {
  lens.setSpanGroupSpec(spec);
  await provider?.forceFlush();
};

/** The builders of `subjects/site.mjs` that make the sites of a primitive. */
const BUILDERS = {
  SpanGroup: { direct: 'directMethod', site: 'decoratedMethod', hand: 'handWrittenMethod' },
  traceFn: { direct: 'directFunction', site: 'tracedFunction', hand: 'handWrittenFunction' },
  managedSpan: {
    direct: 'closure',
    inlined: 'inlinedClosure',
    site: 'managedBlock',
    hand: 'handWrittenFunction',
  },
  'managedSpan, attributes': {
    direct: 'closureWithOptions',
    site: 'managedBlockWithOptions',
    hand: 'handWrittenBlock',
  },
  isSpanGroupEnabled: { direct: 'directFunction', site: 'guardedBlock' },
};

const isMethod = primitive === 'SpanGroup';
const loop = `call${isMethod ? 'Method' : 'Function'}${count === 1 ? '' : 's'}${later ? 'Later' : ''}`;
let copies = 0;

/** `count` sites of one kind, and the loop that calls them. */
async function build(builder) {
  const sites = [];
  for (let i = 0; i < count; i++) {
    const copy = await import(`./subjects/site.mjs?${copies++}`);
    sites.push(copy[later && !isMethod ? `${builder}Later` : builder](parts));
  }
  const { [loop]: call } = await import(`./subjects/calls.mjs?${builder}${copies}`);
  const subject = count === 1 ? sites[0] : sites;
  return (name, calls, before) => ({ name, calls, before, run: () => call(subject, calls) });
}

/** Calls of one run: enough for a run's bytes to be those of the calls, and few enough for several runs in a slot. */
const SHORT = bytes ? 10_000 : later ? 500 : 2_000;
const LONG = bytes ? 2_000 : sdk ? 100 : 500;
const { direct, inlined, site, hand } = BUILDERS[primitive];
const directSites = await build(direct);
const gatedSites = await build(site);
const cases = [
  directSites('direct', SHORT),
  (await build(direct))('direct again', SHORT),
  gatedSites('off', SHORT, select('others')),
  gatedSites('on', LONG, select('others,bench')),
];
if (inlined) cases.push((await build(inlined))('inlined', SHORT));
if (hand) cases.push((await build(hand))('by hand', LONG, select('others,bench')));

if (peers) {
  cases.push((await build('nestjsOtelMethod'))('nestjs-otel', LONG, select('others')));
  cases.push((await build('amplicationMethod'))('amplication', LONG, select('others')));
}

const result = bytes ? await measureBytes(cases) : await measureInRounds(cases, { rounds, slotMs });
process.send(result);
process.disconnect();
