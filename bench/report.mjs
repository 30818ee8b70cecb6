/** Turns what a run has measured into tables that a person reads. */

/** @param {string[]} header @param {(string | number)[][]} rows a table in Markdown, in columns that line up */
export function table(header, rows) {
  const lines = [header, ...rows].map((line) => line.map(String));
  const widths = header.map((_, column) => Math.max(...lines.map((line) => line[column].length)));
  const draw = (line) =>
    `| ${line.map((cell, i) => (i === 0 ? cell.padEnd(widths[i]) : cell.padStart(widths[i]))).join(' | ')} |`;
  const rule = `| ${widths.map((width, i) => (i === 0 ? '-'.repeat(width) : `${'-'.repeat(width - 1)}:`)).join(' | ')} |`;
  return [draw(lines[0]), rule, ...lines.slice(1).map(draw)].join('\n');
}

/** Three figures, no more. */
function figure(value) {
  if (value === undefined) return '';
  if (Math.abs(value) >= 100) return Math.round(value).toLocaleString('en-US');
  return value.toFixed(Math.abs(value) >= 10 ? 1 : 2);
}

const plain = (summary) => (summary === undefined ? '' : figure(summary.median));
const spread = (summary) =>
  summary === undefined ? '' : `${figure(summary.median)} (${figure(summary.min)}–${figure(summary.max)})`;
/** Bytes; what is below half a byte is the counting itself. */
const bytes = (value) => (value === undefined ? '' : Math.abs(value) < 0.5 ? '0' : figure(value));
const NEST = { 'nest-11': 'Nest 11', 'nest-12': 'Nest 12', project: 'Nest 12' };
const call = ({ later, count }) => `${later ? 'async' : 'sync'}, ${count}`;

const sitesTable = (sites) =>
  table(
    [
      'site',
      'direct ns',
      'direct again',
      'off ns',
      'off ×',
      'of inlined',
      'off B',
      'on, no SDK ns',
      '× by hand',
      'on, SDK ns',
      '× by hand',
      'on B',
    ],
    sites.map((site) => [
      `${site.primitive} ${call(site)}`,
      plain(site.direct),
      plain(site.again),
      plain(site.off),
      spread(site.offRatio),
      plain(site.offToInlined),
      bytes(site.offBytes),
      plain(site.onNoSdk),
      plain(site.onNoSdkRatio),
      plain(site.on),
      spread(site.onRatio),
      bytes(site.onBytes),
    ]),
  );

const peersTable = (peers) =>
  table(
    ['call', 'contender', 'ns', '× direct', '@SpanGroup on, of it', 'B more'],
    peers.flatMap((row) =>
      row.contenders.map(({ name, ns, toDirect, ofOn, bytes: more }) => [
        `${call(row)}${row.sdk ? ', SDK' : ''}`,
        name === 'on' || name === 'off' ? `@SpanGroup, ${name}` : name,
        spread(ns),
        plain(toDirect),
        name === 'off' || name === 'on' ? '' : plain(ofOn),
        bytes(more),
      ]),
    ),
  );

const routerTable = (router) =>
  table(
    ['router alone', 'handler', 'ns', '× plain', '× pass-through', '@SpanGroup on, of it', 'B', 'B more'],
    router.flatMap(({ workspace, sdk, routes }) =>
      routes.map((route) => [
        `${NEST[workspace]}${sdk ? ', SDK' : ''}`,
        `${route.variant}${route.later ? ', async' : ''}`,
        plain(route.ns),
        spread(route.toPlain),
        plain(route.toPassThrough),
        plain(route.onToIt),
        figure(route.bytes),
        bytes(route.moreBytes),
      ]),
    ),
  );

const serversTable = (servers) =>
  table(
    ['server', 'handler', 'µs', 'CPU µs', 'CPU × plain', 'B', 'B × plain'],
    servers.flatMap(({ workspace, adapter, variants }) =>
      variants.map((variant) => [
        `${NEST[workspace]}, ${adapter}`,
        variant.variant,
        spread(variant.us),
        plain(variant.cpuUs),
        spread(variant.cpuToPlain),
        spread(variant.bytes),
        variant.bytesToPlain.toFixed(4),
      ]),
    ),
  );

const growthTables = ({ registry, document }) => {
  const whats = [...new Set(registry.map(({ what }) => what))];
  const sizes = [...new Set(registry.map(({ groups, namespaces }) => `${groups} in ${namespaces}`))];
  const documents = [...new Set(document.map(({ what }) => what))];
  const documentSizes = [...new Set(document.map(({ sites, groups }) => `${sites} in ${groups}`))];
  const tables = [
    table(
      ['groups in namespaces, µs', ...whats],
      sizes.map((size) => [
        size,
        ...whats.map((what) =>
          plain(
            registry.find((row) => row.what === what && `${row.groups} in ${row.namespaces}` === size)?.us,
          ),
        ),
      ]),
    ),
    documentSizes.length > 0 &&
      table(
        ['sites in groups, µs', ...documents],
        documentSizes.map((size) => [
          size,
          ...documents.map((what) =>
            plain(document.find((row) => row.what === what && `${row.sites} in ${row.groups}` === size)?.us),
          ),
        ]),
      ),
  ];
  return tables.filter(Boolean).join('\n\n');
};

/** Also the table in docs/instrumentations.md. */
export const instrumentationsTable = (rows) =>
  table(
    [
      'Instrumentations',
      'Ungated',
      'Gated, on',
      'Gated, `default`',
      'Gated, off',
      'Bytes, on',
      'Bytes, `default`',
    ],
    rows.map(({ subject, ungatedRatio, onRatio, defaultRatio, offRatio, bytes: sent }) => [
      subject,
      plain(ungatedRatio),
      plain(onRatio),
      // A database is in no preset for a start.
      plain(defaultRatio ?? offRatio),
      plain(offRatio),
      bytes(sent.on),
      bytes(sent.default ?? sent.off),
    ]),
  );

const instrumentationsTables = (rows) =>
  [
    instrumentationsTable(rows),
    table(
      ['extremes', 'absent µs', 'ungated', 'on', 'on, of ungated', 'off'],
      rows.map(({ subject, us, ungatedRatio, onRatio, onToUngated, offRatio }) => [
        subject,
        spread(us),
        ...[ungatedRatio, onRatio, onToUngated, offRatio].map(spread),
      ]),
    ),
  ].join('\n\n');

const bootTable = (boot) =>
  table(
    [
      '1,000 controllers',
      'without ms',
      'with ms',
      'ratio',
      'autoGroups ms',
      'ratio',
      'of the module alone',
      'loading NestLens ms',
    ],
    boot.map(({ workspace, without, with: withLens, ratio, auto, autoRatio, autoToModule, loadMs }) => [
      NEST[workspace],
      spread(without),
      spread(withLens),
      spread(ratio),
      auto ? spread(auto) : '',
      autoRatio ? spread(autoRatio) : '',
      autoToModule ? spread(autoToModule) : '',
      plain(loadMs),
    ]),
  );

/** @param {import('./limits.mjs').Limit[]} limits */
export function limitsTable(limits) {
  return table(
    ['limit', 'at most', 'measured', ''],
    limits.map(({ area, what, limit, unit, measured, spread: range, reached, explanation }) => [
      `${area}: ${what}`,
      `${limit}${unit && ` ${unit}`}`,
      `${unit === 'B' ? bytes(measured) : figure3(measured)}${unit && ` ${unit}`}${range ? ` (${figure3(range[0])}–${figure3(range[1])})` : ''}`,
      reached ? 'reached' : explanation ? `missed [${explanation}]` : 'missed',
    ]),
  );
}

/** Ratios close to 1 need a third decimal. */
const figure3 = (value) => (value < 10 ? value.toFixed(3) : figure(value));

/** The parts of a run, in order: heading, what its lines mean, table. */
export function sections({ sites, sitesOnNode24, peers, router, servers, growth, instrumentations, boot }) {
  const parts = [
    sites && ['Sites', SITES_MEAN, sitesTable(sites)],
    sitesOnNode24 && [
      'Sites, on Node 24',
      'The same calls on Node 24, without an SDK.',
      sitesTable(sitesOnNode24),
    ],
    peers && ['Peers', PEERS_MEAN, peersTable(peers)],
    router && ['Requests through the router alone', ROUTER_MEAN, routerTable(router)],
    servers && ['Requests over HTTP', SERVERS_MEAN, serversTable(servers)],
    growth && ['Growth', GROWTH_MEAN, growthTables(growth)],
    instrumentations && ['Instrumentations', INSTRUMENTATIONS_MEAN, instrumentationsTables(instrumentations)],
    boot && ['Boot', BOOT_MEAN, bootTable(boot)],
  ];
  return parts.filter(Boolean).map(([title, meaning, text]) => ({ title, meaning, text }));
}

const SITES_MEAN = `A call of one site, or of sixteen different ones in turn from one place, which V8 can't specialise. The
body is one that V8 doesn't inline. _direct_ is the call without NestLens (for \`managedSpan\`: the caller's closure, called
through a plain function that isn't inlined either), _direct again_ the same a second time: how far two equal things lay
apart. _off_ is off after having been on; \`×\` is the ratio to _direct_, with the extremes of the rounds. _on_ is one span for
each call; _× by hand_ is the ratio to \`startActiveSpan\` with the same attributes, \`try\`, \`catch\` and \`finally\`, as
OpenTelemetry documents it. _of inlined_ is the ratio to calling the closure through a function that V8 does inline, so that
there is neither call nor closure: no function of a library can be that cheap. _B_ is bytes a call beyond those of _direct_. The SDK has a batch processor and an exporter that
drops what it gets. Without an SDK nobody has a reason to turn a group on; those two columns have no limit. There a span is
an object that does nothing, and what shows is the bookkeeping around it, which with an SDK is a few hundredths.`;

const PEERS_MEAN = `The same method with the same two attributes, on Nest 12: \`@SpanGroup\`, by hand, \`@Span\` of
\`nestjs-otel\` 8.1.1, and what \`@amplication/opentelemetry-nestjs\` 6.0.0 makes of its \`@Span\`. The peers have no way to be
off. Below 1 in the column _@SpanGroup on, of it_ means that NestLens is cheaper. The limits are about the rows with an SDK.`;

const ROUTER_MEAN = `Nest's own handler of a route, called without a socket: all of Nest, nothing of HTTP. Every handler
returns the same small object. _plain_ is bare, _plain-again_ the same a second time, _off_ and _on_ have \`@SpanGroup\`,
_pass-through_ is an interceptor that only returns \`next.handle()\`, _interceptor_ is \`SpanGroupInterceptor\`, _no-lens_ is the
plain handler of an application without NestLens; _served_ and _served-no-lens_ are the two plain ones below a server span, which is
told its route. Without _SDK_, telemetry is disabled.`;

const SERVERS_MEAN = `The same handlers behind real HTTP, asked by autocannon over 10 connections; the server has telemetry
on. Time and CPU are those of a shared machine; bytes are steady. \`instrumentation-nestjs-core\` is on a server of its own,
which is asked in the same rounds, since it changes Nest itself; its spans are three for each request, and its version for
Node 20 refuses Nest 12.`;

const GROWTH_MEAN = `Registering everything into an empty registry; the same under a spec that each registration resolves
again (presets, a wildcard, an exclusion, a name that nobody has); under a spec of 60 entries, most of them wildcards or names that
nobody has; under a spec that waits for a group of each namespace, so that each registration is reported; registering under a spec
and taking it all back; resolving that spec; putting it over another one and taking it away. What follows from the registrations is
worked out again for each of them, so the time for all grows with their square: it is measured up to 100 namespaces. The limits take
the fastest rounds, which no collection of the whole heap falls into. Then the document of \`GET /lens/groups\` of an application
with so many decorated handlers, on Express, whose own search through 10,000 routes is part of the answer's time.`;

const INSTRUMENTATIONS_MEAN = `CPU of an operation, of the same where the instrumentation isn't there: a request to an Express server, a
query of PostgreSQL, a GraphQL query of three fields, a command of Redis; and a request that reads an order of the sample shop, with
http, express and pg, over PostgreSQL, by OTLP to a collector: _on_ has the spans of its own handlers and queries too. An SDK is there in all of them, with a batch processor,
and an exporter that serialises protobuf. _Ungated_ is without NestLens's option. Each is in a process of its own; rounds are interleaved.`;

const BOOT_MEAN = `From the first class to the first port, cold, on Express: two handlers for each controller, each with
\`@SpanGroup\`; telemetry is on, attached to what the application has, with every group off. Loading the package is not part of
it; the last column says what that takes.`;
