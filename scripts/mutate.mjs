/**
 * npm run mutate -- src/nest/span-group/covered-call.ts [spec or folder ...]   breaks a file in one place at a time
 *
 * It lists the breaks that no test sees, of the specs that are given, or else of the folder that mirrors the file's. Nothing
 * is broken in processes that a spec starts, so what only they can show stays on the list. It writes into the file while it
 * runs, and puts it back; so run it in a worktree of its own.
 */
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { withBreaks } from './mutate/breaks.mjs';
import { runCopies } from './mutate/run-copies.mjs';

/** So many breaks are tried in one process. The last run there breaks nothing: it fails if the others left something behind. */
const BREAKS_A_PROCESS = 15;
/** The number of no break. */
const NONE = 99_999;

/** Which breaks each spec reaches, and which only the first one that loads the file. */
async function dryRun(specs) {
  const jobs = [...specs, ...specs].map((spec) => ({ spec, number: NONE }));
  const ran = await runCopies(jobs);
  const reachedBy = new Map();
  const first = new Set();
  const again = new Set();
  for (const [index, job] of jobs.entries()) {
    const result = ran.get(job);
    if (!result || result.hasFailed) throw new Error(`Nothing is broken yet, and ${job.spec} fails.`);
    for (const number of result.reached) (index < specs.length ? first : again).add(number);
    if (index >= specs.length) reachedBy.set(job.spec, new Set(result.reached));
  }
  return { reachedBy, onlyAtFirst: [...first].filter((number) => !again.has(number)) };
}

/** Tries breaks on a spec, many in a process, and notes those that it sees. */
async function tryTogether(spec, numbers, seen) {
  let left = [...numbers];
  while (left.length > 0) {
    const jobs = [...left.slice(0, BREAKS_A_PROCESS), NONE].map((number) => ({ spec, number }));
    const ran = await runCopies(jobs);
    const failed = jobs.filter((job) => job.number !== NONE && ran.get(job)?.hasFailed);
    left = left.filter((number) => !jobs.some((job) => job.number === number && ran.has(job)));
    const hasLeftSomething = failed.length > 1 && ran.get(jobs.at(-1))?.hasFailed !== false;
    const broken = failed.map(({ number }) => number);
    if (hasLeftSomething) await tryAlone(spec, broken, seen);
    else for (const number of broken) seen.add(number);
  }
}

/** Tries breaks on a spec, each in a process of its own, as it has to be for what happens while a file is loaded. */
async function tryAlone(spec, numbers, seen) {
  for (const number of numbers) {
    for (const { hasFailed } of (await runCopies([{ spec, number }])).values())
      if (hasFailed) seen.add(number);
  }
}

function specsIn(path) {
  if (!statSync(path).isDirectory()) return [path];
  return readdirSync(path)
    .filter((name) => name.endsWith('.spec.ts'))
    .map((name) => join(path, name));
}

const [path, ...given] = process.argv.slice(2);
if (path === undefined) throw new Error('Name a file of src.');
const own = path.replace(/^src/, 'test').replace(/\.ts$/, '.spec.ts');
/** Those that see most run first. */
const ofFile = existsSync(own) ? [own, dirname(own)] : [dirname(own)];
const specs = [...new Set((given.length > 0 ? given : ofFile).flatMap(specsIn))];
const source = readFileSync(path, 'utf8');
const { breaks, text } = withBreaks(source);
const seen = new Set();
const unseen = (numbers) => [...numbers].filter((number) => !seen.has(number));
const putBack = () => writeFileSync(path, source);
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => (putBack(), process.exit(1)));
const reached = new Set();
try {
  writeFileSync(path, text);
  const { onlyAtFirst, reachedBy } = await dryRun(specs);
  for (const numbers of [onlyAtFirst, ...reachedBy.values()])
    for (const number of numbers) reached.add(number);
  for (const spec of specs) await tryTogether(spec, unseen(reachedBy.get(spec)), seen);
  for (const spec of specs) await tryAlone(spec, unseen(onlyAtFirst), seen);
  // Once more, alone: a break may change what happens while the file is loaded, and what a process keeps may hide another's.
  for (const number of unseen(reached)) {
    const jobs = specs.filter((spec) => reachedBy.get(spec).has(number)).map((spec) => ({ spec, number }));
    if (jobs.length === 0) continue;
    const ran = await runCopies(jobs);
    if ([...ran.values()].some(({ hasFailed }) => hasFailed)) seen.add(number);
  }
} finally {
  putBack();
}
const left = unseen(breaks.keys());
for (const number of left) {
  const { line, before, after } = breaks[number];
  console.log(
    `${path}:${line}  ${before}  ->  ${after}${reached.has(number) ? '' : '  (no test reaches it)'}`,
  );
}
console.log(`${path}: ${breaks.length} breaks, ${left.length} of them unseen`);
process.exitCode = left.length > 0 ? 1 : 0;
