import { existsSync } from 'node:fs';
import { cp, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { NODES } from './matrix.mjs';
import { fetchNode, withNode } from './node-releases.mjs';
import { cleanEnvironment, runNpm } from './run-command.mjs';

const compatDirectory = fileURLToPath(new URL('../../compat', import.meta.url));
const typesDirectory = fileURLToPath(new URL('../../test/types', import.meta.url));

/** A step of a cell that failed: which, and the last lines of what it wrote. */
export class StepFailure extends Error {
  constructor(step, output) {
    super(`${step} failed`);
    this.step = step;
    this.output = output;
  }
}

/** What npm says when it didn't reach its registry: no fault of the package, so it is tried once more. */
const NETWORK_TROUBLE = /\b(ECONNRESET|ECONNREFUSED|ETIMEDOUT|EAI_AGAIN|ERR_SOCKET_TIMEOUT|E429|E50\d)\b/;

const readJson = async (path) => JSON.parse(await readFile(path, 'utf8'));

/** The consumer in a folder of its own outside the checkout, so that nothing is found in the checkout's node_modules. */
async function lay(cell, folder, tarballs) {
  await cp(join(compatDirectory, 'consumers', cell.consumer), folder, { recursive: true });
  await cp(join(compatDirectory, '.npmrc'), join(folder, '.npmrc'));
  if (existsSync(join(folder, 'src'))) {
    await cp(join(compatDirectory, 'scenario'), join(folder, 'src'), { recursive: true });
  }
  if (['bundlers', 'library-user'].includes(cell.consumer)) {
    await cp(join(compatDirectory, 'bundlers.mjs'), join(folder, 'bundlers.mjs'));
  }
  if (cell.consumer === 'types') await cp(typesDirectory, join(folder, 'fixtures'), { recursive: true });
  const manifest = await readJson(join(folder, 'package.json'));
  Object.assign(manifest.dependencies, cell.dependencies);
  for (const group of [manifest.dependencies, manifest.devDependencies ?? {}]) {
    for (const name of Object.keys(group))
      if (tarballs[name] !== undefined) group[name] = `file:${tarballs[name]}`;
  }
  await writeFile(join(folder, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
  return manifest;
}

/** Every copy of a package below a folder. npm's own list says the same; this one can't overlook a nested one. */
async function copiesOf(name, folder) {
  const found = [];
  const modules = join(folder, 'node_modules');
  if (!existsSync(modules)) return found;
  for (const entry of await readdir(modules)) {
    const packages = entry.startsWith('@')
      ? (await readdir(join(modules, entry))).map((inner) => `${entry}/${inner}`)
      : [entry];
    for (const each of packages) {
      if (each === name) found.push(join(modules, each));
      if (existsSync(join(modules, each, 'node_modules'))) {
        found.push(...(await copiesOf(name, join(modules, each))));
      }
    }
  }
  return found;
}

async function installedVersion(name, folder) {
  const manifest = join(folder, 'node_modules', name, 'package.json');
  return existsSync(manifest) ? (await readJson(manifest)).version : undefined;
}

/** What the consumer itself reported: that it really ran, and on the Node that the cell names. */
async function readReport(file, nodeVersion) {
  const lines = existsSync(file) ? (await readFile(file, 'utf8')).trim().split('\n') : [];
  const facts = lines.filter((line) => line !== '').map((line) => JSON.parse(line));
  if (facts.length === 0)
    throw new StepFailure('report', 'The consumer ended well, but reported nothing: it ran no test.');
  const strangers = facts.filter(({ node }) => node !== nodeVersion);
  if (strangers.length > 0) {
    throw new StepFailure('report', `It ran on Node ${strangers[0].node} instead of ${nodeVersion}.`);
  }
  return facts;
}

/**
 * Installs a cell's consumer from the tarballs with a plain `npm install`, and runs its scripts `build` and `test`.
 *
 * @param {import('./matrix.mjs').Cell} cell
 * @param {{ folder: string, tarballs: Record<string, string>, log: (text: string) => void }} place
 */
export async function runCell(cell, { folder, tarballs, log }) {
  const nodeVersion = NODES[cell.node];
  const node = await fetchNode(nodeVersion);
  const reportFile = join(folder, 'report.jsonl');
  const env = {
    ...withNode(node, cleanEnvironment()),
    ...cell.env,
    NEST_LENS_COMPAT_REPORT: reportFile,
  };
  const step = async (name, args, again = undefined) => {
    const timeoutMs = (cell.minutes ?? 5) * 60_000;
    const { status, output } = await runNpm(args, { cwd: folder, env, node, timeoutMs });
    if (status !== 0 && again?.test(output)) {
      log(`$ npm ${args.join(' ')}\n${output}\nOnce more:\n`);
      return step(name, args);
    }
    log(`$ npm ${args.join(' ')}\n${output}\n`);
    if (status !== 0) throw new StepFailure(name, output);
    return output;
  };

  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  const manifest = await lay(cell, folder, tarballs);

  const installed = await step('install', ['install', ...(cell.installArguments ?? [])], NETWORK_TROUBLE);
  if (installed.includes('ERESOLVE')) throw new StepFailure('install', installed);

  const copies = await copiesOf('@opentelemetry/api', folder);
  if (copies.length > 1) {
    throw new StepFailure(
      'one copy of @opentelemetry/api',
      `There are ${copies.length}:\n${copies.join('\n')}`,
    );
  }
  if (copies.length === 1) {
    const listed = await step('one copy of @opentelemetry/api', [
      'ls',
      '--all',
      '--parseable',
      '@opentelemetry/api',
    ]);
    const paths = new Set(listed.trim().split('\n'));
    if (paths.size !== 1) throw new StepFailure('one copy of @opentelemetry/api', listed);
  }

  if (manifest.scripts.build) await step('build', ['run', 'build']);
  await step('test', ['test']);
  const facts = await readReport(reportFile, nodeVersion);
  if (existsSync(join(folder, 'src'))) {
    const platforms = new Set(facts.map(({ platform }) => platform));
    const missing = ['express', 'fastify'].filter((platform) => !platforms.has(platform));
    if (missing.length > 0)
      throw new StepFailure('report', `The scenario did not run on ${missing.join(' and ')}.`);
  }
  const version = (name) => installedVersion(name, folder);
  return {
    facts,
    nest: await version('@nestjs/core'),
    api: await version('@opentelemetry/api'),
    sdk: await version('@opentelemetry/sdk-node'),
  };
}
