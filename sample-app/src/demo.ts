import 'reflect-metadata';
import { Checklist } from './demo/checklist.js';
import { DEMO_REQUESTS } from './demo/demo-requests.js';
import { groupTable } from './demo/group-table.js';
import { orphanSpans } from './demo/orphan-spans.js';
import { bold, dim, green, red, yellow } from './demo/palette.js';
import { runShop, type ShopRun } from './demo/shop-run.js';
import { spanTree } from './demo/span-tree.js';
import { wordWrap } from './demo/word-wrap.js';

const QUIET = 'default';
const DETAILED = 'per_request,db_query';
const TYPO = 'per_requset';
const COLUMNS = 100;

function heading(text: string): void {
  console.log(`\n${bold(text)}`);
}

function say(...lines: string[]): void {
  for (const line of lines) console.log(`  ${line}`);
}

/** The first order that was placed: its span, the ones below it, and how many spans the whole run made. */
function showRun(setting: string, { spans }: ShopRun): void {
  const count = `${spans.length} spans for the ${DEMO_REQUESTS.length} requests`;
  console.log();
  say(`${bold(setting.padEnd(44))}${yellow(count)}`);
  const order = spans.find(({ name }) => name === 'orders.place');
  say(...(order ? spanTree(spans, order) : [dim('no span at all: the shop works, and nothing is traced')]));
}

console.log(bold('NestLens: the same shop, the same requests, and one variable'));
say('A Nest shop with a Postgres inside is started four times, and each time answers the same requests:');
say(
  ...DEMO_REQUESTS.map(({ method, path, status, note }) =>
    dim(`${method.padEnd(5)}${path.padEnd(19)}${status}  ${note}`),
  ),
);

const quiet = await runShop({ NEST_LENS_ENABLED: 'true', NEST_LENS_SPAN_GROUPS: QUIET });
const detailed = await runShop({ NEST_LENS_ENABLED: 'true', NEST_LENS_SPAN_GROUPS: DETAILED });
const off = await runShop({ NEST_LENS_ENABLED: 'false', NEST_LENS_SPAN_GROUPS: DETAILED });
const typo = await runShop({ NEST_LENS_ENABLED: 'true', NEST_LENS_SPAN_GROUPS: TYPO });

heading('1. What GET /lens/groups says, for two values of NEST_LENS_SPAN_GROUPS');
say(...groupTable({ [QUIET]: quiet.document, [DETAILED]: detailed.document }));

heading('2. The trace of one order, POST /orders');
showRun(`NEST_LENS_SPAN_GROUPS=${QUIET}`, quiet);
showRun(`NEST_LENS_SPAN_GROUPS=${DETAILED}`, detailed);
showRun('NEST_LENS_ENABLED=false', off);

heading(`3. A typo, NEST_LENS_SPAN_GROUPS=${TYPO}: the shop starts, and logs`);
for (const { code, message } of typo.warnings) {
  say(...wordWrap(`${code}: ${message}`, COLUMNS).map((line) => yellow(line)));
}

const checklist = new Checklist();
const runs = { [QUIET]: quiet, [DETAILED]: detailed, off, [TYPO]: typo };
for (const [name, { statuses, spans }] of Object.entries(runs)) {
  const expected = DEMO_REQUESTS.map(({ status }) => status);
  checklist.equal(`${name}: the statuses of the answers`, statuses, expected);
  checklist.equal(`${name}: spans whose parent was never exported`, orphanSpans(spans).length, 0);
}

// Two orders and a report; the order that was refused never came to its payment.
checklist.equal(`${QUIET}: spans`, quiet.spans.length, 4);
// 3 for each of the 3 requests to the catalogue, 11 and 4 for the two orders, 5 for the stream, 2 for the report.
checklist.equal(`${DETAILED}: spans`, detailed.spans.length, 31);
checklist.equal('off: spans', off.spans.length, 0);
checklist.equal('off: what the endpoint says', off.document.telemetry.enabled, false);
checklist.equal(`${TYPO}: spans`, typo.spans.length, 0);

for (const [name, { document, warnings }] of Object.entries({ [QUIET]: quiet, [DETAILED]: detailed, off })) {
  const codes = warnings.map(({ code }) => code);
  checklist.equal(`${name}: warnings`, [codes, document.warnings.length], [[], 0]);
}
const because = Object.fromEntries(detailed.document.groups.map((group) => [group.name, group.because]));
checklist.equal('why db_query is on', because['db_query'], ['db_query']);
checklist.equal('why order is on', because['order'], ['per_request']);
const pricing = quiet.document.groups.find(({ name }) => name === 'pricing');
checklist.equal('who shares pricing', pricing?.namespaces, ['catalog', 'orders']);
checklist.equal(
  `${TYPO}: warnings`,
  typo.warnings.map(({ code }) => code),
  ['SPEC_UNRESOLVED'],
);
checklist.equal(`${TYPO}: the nearest name`, /per_request\b/.test(typo.warnings[0]?.message ?? ''), true);

console.log();
for (const failure of checklist.failures) say(red(`NOT AS IT SHOULD BE: ${failure}`));
say(
  checklist.failures.length === 0
    ? green(`All ${checklist.passed} checks of what is shown here passed.`)
    : red(`${checklist.failures.length} checks failed, ${checklist.passed} passed.`),
);
process.exitCode = checklist.failures.length === 0 ? 0 : 1;
