/** What a full run leaves behind: RESULTS.md, the tables of docs/costs.md, and a chart. */
import { explanationsOf } from './limits.mjs';
import { limitsTable, sections, table } from './report.mjs';

const ns = (value) =>
  value >= 1_000
    ? `${(value / 1_000).toFixed(1)} µs`
    : `${value >= 10 ? Math.round(value) : value.toFixed(1)} ns`;

/** What RESULTS.md says of the last long run of the soak. */
export function soakSection({ at, seconds, node, machine, rows, checks }) {
  return `## Soak

Written by \`npm run soak\` on ${at.slice(0, 10)} in ${seconds} seconds: ${machine}, Node ${node}. The sample shop under
load, its collector up for ten seconds and away for five, the spec another one each second, a third of the clients leaving in
the middle of a request.

${table(['', ''], rows)}

${checks.map(([name, isGood]) => `- ${isGood ? 'ok' : 'FAILED'}: ${name}`).join('\n')}`;
}

/** RESULTS.md */
export function writeUp(run, soak) {
  const { at, seconds, machine, limits } = run;
  const missed = limits.filter(({ reached }) => !reached);
  const nodes = [machine.node, machine.node24].filter(Boolean).join(' and ');
  return `# What NestLens costs: the last run

Written by \`npm run bench\` on ${at.slice(0, 10)} in ${seconds} seconds: ${machine.cpu}, ${machine.cores} cores, ${machine.memoryGiB} GiB,
${machine.system}, Node ${nodes}, load ${machine.loadBefore.toFixed(1)} at the start. The figures are in \`results.json\` as well. Don't edit.

Times are medians over interleaved rounds, most with the lowest and the highest round in brackets. A ratio is the median of
the ratios within each round, so what else the machine did hit both sides alike. Trust the ratios and the bytes more than
the times.

## Limits

${limits.length - missed.length} of ${limits.length} are reached.

${limitsTable(limits)}

${explanationsOf(run)
  .map(({ mark, text }) => `[${mark}] ${text}`)
  .join('\n\n')}

${sections(run)
  .map(({ title, meaning, text }) => `## ${title}\n\n${meaning}\n\n${text}`)
  .join('\n\n')}

${soak ? soakSection(soak) : ''}
`;
}

const siteOf = ({ sites }, primitive, later) =>
  sites.find((site) => site.primitive === primitive && site.later === later && site.count === 1);
const contenderOf = ({ peers }, name, sdk, later = false) =>
  peers
    .find((row) => row.sdk === sdk && row.later === later && row.count === 1)
    .contenders.find((contender) => contender.name === name);

/** The first table of docs/costs.md. */
export function costsTable(run) {
  const off = (site) =>
    `${ns(Math.max((site.offRatio.median - 1) * site.direct.median, 0))} more, ${Math.max(Math.round(site.offBytes), 0)} B`;
  const on = (site) => `${ns(site.on.median)}, ${site.onRatio.median.toFixed(2)} of by hand`;
  const row = (name, primitive, later) => {
    const site = siteOf(run, primitive, later);
    return [name, off(site), on(site)];
  };
  // On, in the same rounds as the peers.
  const decorated = (name, later) => {
    const { ns: time } = contenderOf(run, 'on', true, later);
    const { ofOn } = contenderOf(run, 'by hand', true, later);
    return [
      name,
      off(siteOf(run, 'SpanGroup', later)),
      `${ns(time.median)}, ${ofOn.median.toFixed(2)} of by hand`,
    ];
  };
  const peer = (label, name, later) => {
    const { ns: time } = contenderOf(run, name, true, later);
    const { ofOn } = contenderOf(run, 'by hand', true, later);
    const { ofOn: ofIt } = contenderOf(run, name, true, later);
    return [
      label,
      "can't be off",
      `${ns(time.median)}, ${(ofOn.median / ofIt.median).toFixed(2)} of by hand`,
    ];
  };
  const router = (workspace, variant) =>
    run.router
      .find((each) => each.workspace === workspace && each.sdk)
      .routes.find((route) => route.variant === variant && !route.later);
  const request = (workspace, variant, base) => {
    const { ns: time, moreBytes } = router(workspace, variant);
    const more = time.median - router(workspace, base).ns.median;
    return `${ns(Math.max(more, 0))} more, ${Math.abs(moreBytes) < 30 ? 0 : Math.round(moreBytes).toLocaleString('en-US')} B`;
  };
  return table(
    ['One call or request', 'off', 'on, with an SDK'],
    [
      decorated('`@SpanGroup`', false),
      decorated('`@SpanGroup`, async', true),
      row('`traceFn`', 'traceFn', false),
      row('`managedSpan` ¹', 'managedSpan', false),
      [
        'a request whose handler has `@SpanGroup`, Nest 12',
        request('nest-12', 'off', 'plain'),
        request('nest-12', 'on', 'plain'),
      ],
      [
        'the same with `SpanGroupInterceptor`, Nest 12',
        request('nest-12', 'interceptor-off', 'plain'),
        request('nest-12', 'interceptor-on', 'plain'),
      ],
      [
        'the same with `SpanGroupInterceptor`, Nest 11',
        request('nest-11', 'interceptor-off', 'plain'),
        request('nest-11', 'interceptor-on', 'plain'),
      ],
      ['an interceptor that does nothing, Nest 11', request('nest-11', 'pass-through', 'plain'), ''],
      peer('`@Span` of nestjs-otel 8.1.1', 'nestjs-otel', false),
      peer('the same, async', 'nestjs-otel', true),
      peer('`@Span` of @amplication/opentelemetry-nestjs 6.0.0', 'amplication', false),
      peer('the same, async', 'amplication', true),
    ],
  );
}

/** The table of requests over HTTP, on Express, in docs/costs.md. */
export function serversTable({ servers }) {
  const cpu = (workspace, variant) =>
    servers
      .find((server) => server.workspace === workspace && server.adapter === 'express')
      .variants.find((each) => each.variant === variant)
      .cpuToPlain.median.toFixed(2);
  const row = (name, variant) => [name, cpu('nest-11', variant), cpu('nest-12', variant)];
  return table(
    ['Handler', 'Nest 11', 'Nest 12'],
    [
      row('`@SpanGroup`, off', 'off'),
      row('`@SpanGroup`, on', 'on'),
      row('an interceptor that does nothing', 'pass-through'),
      row('`SpanGroupInterceptor`, off', 'interceptor-off'),
      row('`SpanGroupInterceptor`, on', 'interceptor-on'),
    ],
  );
}

/** Bars: what one call costs when nobody wants its span. */
export function chart(run) {
  const site = siteOf(run, 'SpanGroup', false);
  const bars = [
    ['without instrumentation', site.direct.median],
    ['@SpanGroup, off', site.off.median],
    ['amplication, no SDK', contenderOf(run, 'amplication', false).ns.median],
    ['nestjs-otel, no SDK', contenderOf(run, 'nestjs-otel', false).ns.median],
  ];
  const longest = Math.max(...bars.map(([, value]) => value));
  const lines = bars.map(([label, value], i) => {
    const y = 18 + i * 26;
    const width = Math.max((value / longest) * 300, 2).toFixed(1);
    return `  <text x="170" y="${y + 12}" text-anchor="end">${label}</text>
  <rect x="178" y="${y}" width="${width}" height="16" rx="2" fill="${i === 1 ? '#2da44e' : '#8c959f'}"/>
  <text x="${(184 + Number(width)).toFixed(1)}" y="${y + 12}">${ns(value)}</text>`;
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" width="560" height="130" font-family="sans-serif" font-size="12" fill="#57606a">
  <title>A call whose span nobody wants</title>
${lines.join('\n')}
</svg>
`;
}
