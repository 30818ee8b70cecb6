// The packed tarball in small applications, as users have them: on Nest 11 and 12, CommonJS and ESM, Node 20 to 26,
// OpenTelemetry SDK 2.x and 3.x, with their compilers, test runners and bundlers.
//
//   npm run compat               every cell
//   npm run compat -- vitest     the cells whose name, consumer or Node contains a word
//   npm run compat -- --keep     leaves the applications in the temporary folder, to look at
import { cp, mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from './build.mjs';
import { runCell, StepFailure } from './compat/consumer.mjs';
import { CELLS, NODES } from './compat/matrix.mjs';
import { runNpm } from './compat/run-command.mjs';

const projectDirectory = fileURLToPath(new URL('..', import.meta.url));
const logDirectory = join(projectDirectory, 'temp/compat');
/** The machine of CI has two cores. */
const AT_A_TIME = 2;
const LINES_OF_A_FAILURE = 40;

const isKept = process.argv.includes('--keep');
const words = process.argv.slice(2).filter((argument) => !argument.startsWith('--'));
const isWanted = (cell) =>
  words.length === 0 || words.some((word) => `${cell.name} ${cell.consumer} node${cell.node}`.includes(word));

/** The example library, built and packed as its authors would. @param {string} root @param {string} lensTarball */
async function packLibrary(root, lensTarball) {
  const folder = join(root, 'example-library');
  await cp(join(projectDirectory, 'compat/example-library'), folder, { recursive: true });
  for (const args of [
    ['install', '--no-save', '--no-package-lock', '--no-audit', '--no-fund', lensTarball],
    ['run', 'build'],
  ]) {
    const { status, output } = await runNpm(args, { cwd: folder });
    if (status !== 0) throw new Error(`The example library can't be built.\n${output}`);
  }
  return pack(folder, root);
}

/** Packs a package into a folder and returns the path of the tarball. @param {string} from @param {string} into */
async function pack(from, into) {
  // Without scripts: `prepack` would rebuild dist under the feet of whoever uses it just now.
  const { status, output } = await runNpm(
    ['pack', '--silent', '--ignore-scripts', '--pack-destination', into],
    {
      cwd: from,
    },
  );
  if (status !== 0) throw new Error(`npm pack failed.\n${output}`);
  return join(into, output.trim().split('\n').at(-1));
}

const lastLines = (text, count) => text.trim().split('\n').slice(-count).join('\n');

/** Runs one cell, and turns whatever happens into a row of the table. */
async function runToRow(cell, index, { root, tarballs }) {
  const startedAt = Date.now();
  const id = `${String(index + 1).padStart(2, '0')}-${cell.consumer}-node${cell.node}`;
  const folder = join(root, id);
  let written = '';
  let result = {};
  let failure;
  try {
    result = await runCell(cell, { folder, tarballs, log: (text) => (written += text) });
  } catch (error) {
    failure =
      error instanceof StepFailure
        ? { step: error.step, why: lastLines(error.output, LINES_OF_A_FAILURE) }
        : { step: 'compat', why: String(error?.stack ?? error) };
  }
  await writeFile(join(logDirectory, `${id}.log`), written);
  if (!isKept) await rm(folder, { recursive: true, force: true });
  const seconds = ((Date.now() - startedAt) / 1000).toFixed(1);
  console.log(`${failure ? 'FAILED' : 'ok    '}  ${cell.name}, Node ${NODES[cell.node]} (${seconds} s)`);
  return { cell, id, seconds, failure, ...result };
}

/** Runs the cells, a few at a time, in their order. */
async function runAll(cells, place) {
  const rows = [];
  let next = 0;
  const work = async () => {
    while (next < cells.length) {
      const index = next++;
      rows[index] = await runToRow(cells[index], index, place);
    }
  };
  await Promise.all(Array.from({ length: AT_A_TIME }, work));
  return rows;
}

function printTable(rows) {
  const header = ['cell', 'Node', 'Nest', 'modules', 'OpenTelemetry', 'result', 'seconds'];
  const lines = rows.map(({ cell, nest, api, sdk, failure, seconds }) => [
    cell.name,
    NODES[cell.node],
    nest ?? '-',
    cell.modules,
    [sdk && `SDK ${sdk}`, api && `API ${api}`].filter(Boolean).join(', ') || '-',
    failure ? `FAILED at ${failure.step}` : 'ok',
    seconds,
  ]);
  const widths = header.map((title, column) =>
    Math.max(title.length, ...lines.map((line) => line[column].length)),
  );
  const row = (line) =>
    line
      .map((text, column) => text.padEnd(widths[column]))
      .join('  ')
      .trimEnd();
  console.log(`\n${row(header)}\n${widths.map((width) => '-'.repeat(width)).join('  ')}`);
  for (const line of lines) console.log(row(line));
}

function printNotes(rows) {
  for (const { cell, facts = [] } of rows) {
    for (const { note } of facts) if (note) console.log(`\n${cell.name}: ${note}`);
  }
}

function printFailures(rows) {
  for (const { cell, id, failure } of rows) {
    if (!failure) continue;
    console.log(
      `\n${cell.name}, Node ${NODES[cell.node]}: ${failure.step} failed (all of it: temp/compat/${id}.log)`,
    );
    console.log(failure.why.replace(/^/gm, '  '));
  }
}

const startedAt = Date.now();
const cells = CELLS.filter(isWanted);
if (cells.length === 0) throw new Error(`No cell is called '${words.join(' ')}'.`);

const errors = await build({ onlyIfStale: true });
if (errors) throw new Error(`The package can't be built.\n${errors}`);
await rm(logDirectory, { recursive: true, force: true });
await mkdir(logDirectory, { recursive: true });
const root = await realpath(await mkdtemp(join(tmpdir(), 'nest-lens-compat-')));
try {
  const lens = await pack(projectDirectory, root);
  const tarballs = { 'nest-lens': lens, 'acme-mail': await packLibrary(root, lens) };
  const rows = await runAll(cells, { root, tarballs });
  printTable(rows);
  printNotes(rows);
  printFailures(rows);
  const failed = rows.filter(({ failure }) => failure).length;
  const minutes = ((Date.now() - startedAt) / 60_000).toFixed(1);
  console.log(`\n${rows.length - failed} of ${rows.length} cells ok, in ${minutes} minutes`);
  if (failed > 0) process.exitCode = 1;
} finally {
  if (isKept) console.log(`The applications are in ${root}`);
  else await rm(root, { recursive: true, force: true });
}
