/**
 * npm run mutate -- src/nest/span-group/covered-call.ts [spec or folder ...]   breaks a file in one place at a time
 *
 * It lists the breaks that no test sees. The specs that are given run first, or else the file's own; what they don't see is
 * tried on the folder that mirrors the file's. Nothing is broken in processes that a spec starts, so what only they can
 * show stays on the list. It writes into the file while it runs, and puts it back; so run it in a worktree of its own.
 */
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { withBreaks } from './mutate/breaks.mjs';

/** A run of Vitest takes that many specs; each has a process of its own. */
const SPECS_A_PROCESS = 40;
/** A break that makes a test wait for ever counts as seen. */
const MAX_SPEC_MS = 180_000;
/** The number of no break: to see that the specs pass with the breaks built in. */
const NONE = 99_999;

/**
 * Runs specs, one after another, until one breaks it off. There is no build: it would cost more than they do.
 *
 * @returns {Promise<Map<string, boolean>>} of each spec that ran, whether it failed
 */
async function runSpecs(specs) {
  const vitest = ['node_modules/vitest/vitest.mjs', 'run', '--config', 'scripts/mutate/vitest.config.mjs'];
  const child = spawn(process.execPath, [...vitest, ...specs], { stdio: ['ignore', 'pipe', 'ignore'] });
  const hasFailed = new Map();
  // Not SIGTERM: an endless loop never comes to handle it.
  const timer = setTimeout(() => child.kill('SIGKILL'), MAX_SPEC_MS);
  for await (const line of createInterface(child.stdout)) {
    timer.refresh();
    const [, what, spec] = /^(start|pass|fail) (.+)$/.exec(line) ?? [];
    // A spec that has only started when the process ends has ended it.
    if (spec !== undefined) hasFailed.set(spec, what !== 'pass');
  }
  clearTimeout(timer);
  return hasFailed;
}

/** Tries each spec on each break, with a copy of the spec in a folder that names the break. Notes the breaks that are seen. */
async function tryBreaks(numbers, specs, seen) {
  let left = specs.flatMap((spec) => numbers.map((number) => ({ number, spec })));
  while (left.length > 0) {
    const copies = new Map();
    for (const { number, spec } of left.slice(0, SPECS_A_PROCESS)) {
      const copy = resolve(`${dirname(spec)}.break-${number}`, basename(spec));
      mkdirSync(dirname(copy), { recursive: true });
      const text = readFileSync(spec, 'utf8');
      // What stands beside the spec doesn't stand beside its copy.
      writeFileSync(copy, text.replaceAll("from './", `from '../${basename(dirname(spec))}/`));
      copies.set(copy, { number, spec });
    }
    try {
      const ran = await runSpecs([...copies.keys()]);
      if (ran.size === 0) throw new Error('Vitest ran nothing.');
      for (const [copy, hasFailed] of ran) {
        const { number, spec } = copies.get(copy);
        if (hasFailed && number === NONE) throw new Error(`Nothing is broken yet, and ${spec} fails.`);
        if (hasFailed) seen.add(number);
        left = left.filter((job) => job.number !== number || job.spec !== spec);
      }
    } finally {
      for (const copy of copies.keys()) rmSync(dirname(copy), { recursive: true, force: true });
    }
    left = left.filter(({ number }) => !seen.has(number));
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
const near = (given.length > 0 ? given : [own].filter((spec) => existsSync(spec))).flatMap(specsIn);
const specs = new Set([...near, ...specsIn(dirname(own))]);
const source = readFileSync(path, 'utf8');
const { breaks, text } = withBreaks(source);
const seen = new Set();
const unseen = () => [...breaks.keys()].filter((number) => !seen.has(number));
try {
  writeFileSync(path, text);
  for (const spec of specs) {
    if (unseen().length > 0) await tryBreaks([NONE, ...unseen()], [spec], seen);
  }
} finally {
  writeFileSync(path, source);
}
for (const number of unseen()) {
  const { line, before, after } = breaks[number];
  console.log(`${path}:${line}  ${before}  ->  ${after}`);
}
console.log(`${path}: ${breaks.length} breaks, ${unseen().length} of them unseen`);
process.exitCode = unseen().length > 0 ? 1 : 0;
