// A fleet of real processes on one source, and how long each of them takes to obey a change.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath, pathToFileURL } from 'node:url';
import ts from 'typescript';

/**
 * What a fleet is put on, one after the other, and how its spec is changed.
 * @typedef {{ where: { file?: string, redis?: { module: string, url: string } }, put: (spec: string) => unknown }} Phase
 */

const root = fileURLToPath(new URL('../..', import.meta.url));
const PROCESS = fileURLToPath(new URL('process.mjs', import.meta.url));
/** Whoever takes longer has missed the change, in milliseconds. */
const GIVE_UP_MS = 10_000;
/** Between two changes of a burst. */
const BURST_MS = 5;

class FleetProcess {
  /** The groups that were on, one after the other, since it was put on the source. @type {{ on: string, at: number }[]} */
  seen = [];
  /** What it has warned about. @type {string[]} */
  warnings = [];
  /** @type {() => void} */
  #heard = () => undefined;

  constructor() {
    this.child = fork(PROCESS, { env: { PATH: process.env.PATH }, cwd: root });
    this.child.on('message', (/** @type {any} */ message) => {
      if (message.warnings) this.warnings = message.warnings;
      else if (message.on !== this.seen.at(-1)?.on) this.seen.push(message);
      this.#heard();
    });
    this.child.once('exit', () => this.#heard());
  }

  /** @param {Phase['where']} where */
  putOn(where) {
    this.seen = [];
    this.child.send({ where });
  }

  /**
   * Waits until that group is on.
   * @param {string} group
   */
  async obeys(group) {
    const giveUpAt = Date.now() + GIVE_UP_MS;
    while (this.seen.at(-1)?.on !== group && this.child.exitCode === null && Date.now() < giveUpAt) {
      await new Promise((resolve) => {
        const timer = setTimeout(resolve, 500);
        this.#heard = () => {
          clearTimeout(timer);
          resolve(undefined);
        };
      });
    }
  }

  /** Lets it go: whatever it watches, it has to end by itself. Returns whether it has. */
  async end() {
    const ended = once(this.child, 'exit');
    this.child.send({});
    const timer = setTimeout(() => this.child.kill('SIGKILL'), GIVE_UP_MS);
    const [code] = await ended;
    clearTimeout(timer);
    return code === 0;
  }
}

/**
 * @param {object} options
 * @param {number} options.processes how many there are
 * @param {number} options.changes how many changes are made in each phase, each when all processes have obeyed the one before
 * @param {number} options.burst how many are then made without waiting
 * @param {Phase[]} options.phases
 */
export async function measureFleet({ processes, changes, burst, phases }) {
  const fleet = Array.from({ length: processes }, () => new FleetProcess());
  try {
    const measured = [];
    for (const phase of phases) measured.push(await measurePhase(fleet, phase, changes, burst));
    const ended = await Promise.all(fleet.map((each) => each.end()));
    return {
      phases: measured,
      /** How many processes have not ended by themselves. */
      keptAlive: ended.filter((hasEnded) => !hasEnded).length,
      warnings: fleet.flatMap(({ warnings }) => warnings),
    };
  } finally {
    for (const { child } of fleet) if (child.exitCode === null) child.kill('SIGKILL');
  }
}

/**
 * @param {FleetProcess[]} fleet
 * @param {Phase} phase
 * @param {number} changes
 * @param {number} burst
 */
async function measurePhase(fleet, { where, put }, changes, burst) {
  const allObey = (/** @type {string} */ group) => Promise.all(fleet.map((each) => each.obeys(group)));
  await put('g0');
  for (const each of fleet) each.putOn(where);
  await allObey('g0');
  const delays = [];
  for (let change = 1; change <= changes; change++) {
    const began = Date.now();
    await put(`g${change}`);
    await allObey(`g${change}`);
    for (const { seen } of fleet) {
      const obeyed = seen.find(({ on }) => on === `g${change}`);
      delays.push(obeyed === undefined ? Infinity : obeyed.at - began);
    }
  }
  const last = changes + burst;
  for (let change = changes + 1; change <= last; change++) {
    await put(`g${change}`);
    await new Promise((resolve) => setTimeout(resolve, BURST_MS));
  }
  const ended = Date.now();
  await allObey(`g${last}`);
  delays.sort((a, b) => a - b);
  const orders = fleet.map(({ seen }) => seen.map(({ on }) => Number(on.slice(1))));
  return {
    /** How often a process has not obeyed a change. */
    missed: delays.filter((delay) => delay === Infinity).length,
    medianMs: delays[delays.length >> 1] ?? 0,
    slowestMs: delays.at(-1) ?? 0,
    /** From the end of the burst until the last process had its last change. */
    burstMs: Math.max(...fleet.map(({ seen }) => (seen.at(-1)?.at ?? Infinity) - ended)),
    /** How many processes have gone back to an earlier change, or don't have the last one. */
    outOfOrder: orders.filter(
      (order) => order.at(-1) !== last || order.some((on, at) => at > 0 && on <= (order[at - 1] ?? 0)),
    ).length,
  };
}

/** Compiles the example for Redis, since Node 20 runs no TypeScript. Returns the file. */
export function compileRedisSource() {
  const source = readFileSync(`${root}sample-app/spec-sources/redis/redis-spec-source.ts`, 'utf8');
  const { outputText } = ts.transpileModule(source, {
    compilerOptions: { target: ts.ScriptTarget.ES2022, module: ts.ModuleKind.ES2022 },
  });
  mkdirSync(`${root}temp`, { recursive: true });
  const path = `${root}temp/redis-spec-source.${process.pid}.mjs`;
  writeFileSync(path, outputText);
  return { path, module: pathToFileURL(path).href };
}
