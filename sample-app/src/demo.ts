import 'reflect-metadata';
import { Checklist } from './demo/checklist.js';
import { DEMO_REQUESTS } from './demo/demo-requests.js';
import { groupTable } from './demo/group-table.js';
import { orphanSpans } from './demo/orphan-spans.js';
import { bold, dim, green, red, yellow } from './demo/palette.js';
import { showRunningProcess } from './demo/running-process.js';
import { runShop, type ShopRun } from './demo/shop-run.js';
import { spanTree } from './demo/span-tree.js';
import { wordWrap } from './demo/word-wrap.js';

const QUIET = 'default';
const DETAILED = 'per_request,db_query';
const TYPO = 'per_requset';
const ORDER = 'orders.place';
const COLUMNS = 104;

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
  const order = spans.find(({ name }) => name === ORDER);
  say(
    ...(order
      ? spanTree(spans, order)
      : [dim('no span at all: the answers are the same, and nothing is traced')]),
  );
}

console.log(bold('NestLens: the same shop, the same requests, and one variable'));
say(
  'Every handler, method and query of the shop below is instrumented, and belongs to a span group. A variable',
  'chooses the groups that emit. First the shop is started four times, and each time gets the same requests:',
);
say(
  ...DEMO_REQUESTS.map(
    ({ method, path, status, note }) => `${method.padEnd(5)}${path.padEnd(19)}${status}  ${dim(note)}`,
  ),
);

const quiet = await runShop({ NEST_LENS_ENABLED: 'true', NEST_LENS_SPAN_GROUPS: QUIET });
const detailed = await runShop({ NEST_LENS_ENABLED: 'true', NEST_LENS_SPAN_GROUPS: DETAILED });
const off = await runShop({ NEST_LENS_ENABLED: 'false', NEST_LENS_SPAN_GROUPS: DETAILED });
const typo = await runShop({ NEST_LENS_ENABLED: 'true', NEST_LENS_SPAN_GROUPS: TYPO });

heading('1. What GET /lens/groups says, for two values of NEST_LENS_SPAN_GROUPS');
say(...groupTable({ [QUIET]: quiet.document, [DETAILED]: detailed.document }));
say(
  dim(
    'sites: the methods with @SpanGroup. db_query, pricing … wrap blocks and functions, which NestLens cannot list.',
  ),
);

heading('2. The trace of one order, POST /orders');
showRun(`NEST_LENS_SPAN_GROUPS=${QUIET}`, quiet);
showRun(`NEST_LENS_SPAN_GROUPS=${DETAILED}`, detailed);
showRun('NEST_LENS_ENABLED=false', off);

heading(`3. A typo, NEST_LENS_SPAN_GROUPS=${TYPO}: the shop starts, and logs`);
for (const { code, message } of typo.warnings) {
  say(...wordWrap(`${code}: ${message}`, COLUMNS).map((line) => yellow(line)));
}

const checklist = new Checklist();
heading('4. A running process: one order at three specs, with the spans of http, express and pg');
say(
  `It is started with NEST_LENS_SPAN_GROUPS=default; PUT /lens/groups changes the spec for a while.`,
  'The instrumentations of http, express and pg are in groups, too, so the one variable governs every span of the process.',
  'A span without a group on its right is one of theirs.',
  '',
);
await showRunningProcess(say, checklist);

const enabled = ({ document }: ShopRun) =>
  Object.fromEntries(
    document.groups.filter((group) => group.enabled).map((group) => [group.name, group.because]),
  );
const traceOfOrder = ({ spans }: ShopRun) => {
  const traceId = spans.find(({ name }) => name === ORDER)?.spanContext().traceId;
  return spans.filter((span) => span.spanContext().traceId === traceId);
};

for (const [name, { statuses, spans }] of Object.entries({ quiet, detailed, off, typo })) {
  const expected = DEMO_REQUESTS.map(({ status }) => status);
  checklist.equal(`${name}: the statuses of the answers`, statuses, expected);
  checklist.equal(`${name}: the spans whose parent was never exported`, orphanSpans(spans).length, 0);
}

// Two orders and a report; the order that was refused never came to its payment.
checklist.equal('quiet: the number of spans', quiet.spans.length, 4);
checklist.equal('quiet: the spans of one order', traceOfOrder(quiet).length, 2);
// 3 for each of the 3 requests to the catalogue, 11 and 4 for the orders, 5 for the stream, 2 for the report.
checklist.equal('detailed: the number of spans', detailed.spans.length, 31);
checklist.equal('detailed: the spans of one order', traceOfOrder(detailed).length, 11);
checklist.equal('off: the number of spans', off.spans.length, 0);
checklist.equal('typo: the number of spans', typo.spans.length, 0);

checklist.equal('quiet: what is on, and why', enabled(quiet), {
  order: ['default'],
  payment: ['default'],
  report: ['default'],
});
checklist.equal('detailed: what is on, and why', enabled(detailed), {
  card_network: ['per_request'],
  catalog: ['per_request'],
  db_query: ['db_query'],
  db_transaction: ['per_request'],
  order: ['per_request'],
  order_status: ['per_request'],
  payment: ['per_request'],
  pricing: ['per_request'],
  report: ['per_request'],
  stock: ['per_request'],
});
checklist.equal('off: what is on, and why', enabled(off), {});
checklist.equal('off: whether telemetry is on', off.document.telemetry.enabled, false);
const pricing = quiet.document.groups.find(({ name }) => name === 'pricing');
checklist.equal('quiet: who shares pricing', pricing?.namespaces, ['catalog', 'orders']);

for (const [name, { document, warnings }] of Object.entries({ quiet, detailed, off })) {
  checklist.equal(`${name}: the warnings`, [...warnings, ...document.warnings], []);
}
checklist.equal(
  'typo: the warnings',
  typo.warnings.map(({ code }) => code),
  ['SPEC_UNRESOLVED'],
);
checklist.equal('typo: the name that was meant', typo.warnings[0]?.details['nearest'], {
  [TYPO]: 'per_request',
});
checklist.equal(
  'typo: whether the warning suggests it',
  typo.warnings[0]?.message.includes(`'per_request' for '${TYPO}'`),
  true,
);

console.log();
for (const failure of checklist.failures) say(red(`NOT AS IT SHOULD BE: ${failure}`));
say(
  checklist.failures.length === 0
    ? green(`All ${checklist.passed} checks of what is shown here passed.`)
    : red(`${checklist.failures.length} checks failed, ${checklist.passed} passed.`),
);
process.exitCode = checklist.failures.length === 0 ? 0 : 1;
