import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import { createInterface } from 'node:readline';

/** A break that makes a test wait for ever counts as seen. */
const MAX_SILENCE_MS = 60_000;

/** @typedef {{ spec: string, number: number }} Job a spec to run with a break in force */

/**
 * Runs specs in one process, one after another, each with its break. There is no build: it would cost more than they do.
 *
 * @param {Job[]} jobs
 * @returns {Promise<Map<Job, { hasFailed: boolean, reached: number[] }>>} of each job that ran. The process ends with the job
 *   that kills it; that one has failed, and those after it are missing.
 */
export async function runCopies(jobs) {
  const folder = mkdtempSync(join(tmpdir(), 'mutate-'));
  const reachedFile = join(folder, 'reached.jsonl');
  const copies = new Map(jobs.map((job, place) => [copyOf(job, place), job]));
  const cleanUp = () => {
    for (const copy of copies.keys()) rmSync(dirname(copy), { recursive: true, force: true });
    rmSync(folder, { recursive: true, force: true });
  };
  // When it is interrupted.
  process.once('exit', cleanUp);
  try {
    const ended = await runVitest([...copies.keys()], reachedFile);
    if (ended.size === 0) throw new Error('Vitest ran nothing.');
    const lines = existsSync(reachedFile) ? readFileSync(reachedFile, 'utf8').trim().split('\n') : [];
    const reachedAt = new Map(
      lines.map((line) => JSON.parse(line)).map(({ place, reached }) => [place, reached]),
    );
    return new Map(
      [...ended].map(([copy, hasFailed]) => {
        const job = copies.get(copy);
        return [job, { hasFailed, reached: reachedAt.get(jobs.indexOf(job)) ?? [] }];
      }),
    );
  } finally {
    process.off('exit', cleanUp);
    cleanUp();
  }
}

function copyOf({ spec, number }, place) {
  const copy = resolve(`${dirname(spec)}.run-${place}.break-${number}`, basename(spec));
  mkdirSync(dirname(copy), { recursive: true });
  // What stands beside the spec doesn't stand beside its copy.
  writeFileSync(
    copy,
    readFileSync(spec, 'utf8').replaceAll("from './", `from '../${basename(dirname(spec))}/`),
  );
  return copy;
}

/** @returns {Promise<Map<string, boolean>>} of each copy that began, whether it failed */
async function runVitest(copies, reachedFile) {
  const vitest = ['node_modules/vitest/vitest.mjs', 'run', '--config', 'scripts/mutate/vitest.config.mjs'];
  const env = { ...process.env, MUTATE_REACHED: reachedFile };
  const child = spawn(process.execPath, [...vitest, ...copies], {
    env,
    stdio: ['ignore', 'pipe', 'ignore'],
    detached: true,
  });
  const hasFailed = new Map();
  // Not SIGTERM: an endless loop never comes to handle it. A negative number names Vitest and the processes that it has started.
  const kill = () => process.kill(0 - child.pid, 'SIGKILL');
  const timer = setTimeout(kill, MAX_SILENCE_MS);
  process.once('exit', kill);
  for await (const line of createInterface(child.stdout)) {
    timer.refresh();
    const [, what, copy] = /^(start|pass|fail) (.+)$/.exec(line) ?? [];
    // A copy that has only started when the process ends has ended it.
    if (copy !== undefined) hasFailed.set(copy, what !== 'pass');
  }
  clearTimeout(timer);
  process.off('exit', kill);
  return hasFailed;
}
