/**
 * What NestLens promises about its cost, and what a run says of it. A limit that isn't reached needs an explanation here.
 *
 * @typedef {{ area: string, what: string, limit: number, unit: '' | 'B' | '%' | 'ms' | 'ns', measured: number,
 *   spread?: [number, number], control?: number }} Limit `control`: the ratio of two equal things in the same run
 */

import { SHOP } from './instrumentations.bench.mjs';

/** @returns {Limit} */
const limit = (area, what, most, measured, { unit = '', control } = {}) =>
  typeof measured === 'number'
    ? { area, what, limit: most, unit, measured, control: control?.median }
    : {
        area,
        what,
        limit: most,
        unit,
        measured: measured.median,
        spread: [measured.min, measured.max],
        control: control?.median,
      };

const callWord = ({ later, count }) => `${later ? 'async' : 'sync'}, ${count === 1 ? '1 site' : '16 sites'}`;

/** How much a call may cost that is off, of the same call without NestLens. */
function offLimit({ primitive, later, count }, isNode24) {
  if (primitive === 'managedSpan') return 1.6;
  if (later) return 1.05;
  if (count === 1) return 1.35;
  if (primitive === 'traceFn') return 3;
  return isNode24 ? 2.1 : 1.5;
}

function sitesLimits(sites, isNode24 = false) {
  const area = isNode24 ? 'off, Node 24' : 'off';
  return sites
    .filter(({ primitive }) => primitive !== 'isSpanGroupEnabled')
    .flatMap((site) => {
      const what = `${site.primitive}, ${callWord(site)}`;
      return [
        limit(area, `${what}: of ${OFF_BASE[site.primitive]}`, offLimit(site, isNode24), site.offRatio, {
          control: site.again,
        }),
        ...(site.offBytes === undefined
          ? []
          : [limit(area, `${what}: bytes more`, 0, site.offBytes, { unit: 'B' })]),
      ];
    });
}

const OFF_BASE = {
  SpanGroup: 'a direct call',
  traceFn: 'a direct call',
  managedSpan: 'calling the closure through a plain function',
};

/** With an SDK: without one nobody turns a group on, and a span is an object that does nothing. */
const onLimits = (sites) =>
  sites
    .filter(({ onRatio }) => onRatio)
    .map((site) =>
      limit(
        'on, with an SDK',
        `${site.primitive}, ${callWord(site)}: of the same by hand`,
        1.1,
        site.onRatio,
      ),
    );

const peersLimits = (peers) =>
  peers
    .filter(({ sdk }) => sdk)
    .flatMap((row) =>
      row.contenders
        .filter(({ name }) => name === 'nestjs-otel' || name === 'amplication')
        .map(({ name, ofOn }) =>
          limit('on, with an SDK', `@SpanGroup, ${callWord(row)}: of ${name}`, 1, ofOn),
        ),
    );

const routerLimits = (router) =>
  router.flatMap(({ workspace, sdk, routes }) => {
    const area = `${workspace === 'nest-11' ? 'Nest 11' : 'Nest 12'}, router alone${sdk ? ', with an SDK' : ''}`;
    const find = (variant, later) =>
      routes.find((route) => route.variant === variant && route.later === later);
    return [
      ...[false, true].map((later) =>
        limit(
          area,
          `annotated handler, off, ${later ? 'async' : 'sync'}: of the bare one`,
          1.03,
          find('off', later).toPlain,
          { control: find('plain-again', later).toPlain },
        ),
      ),
      limit(
        area,
        'interceptor, off: of a pass-through one',
        1.03,
        find('interceptor-off', false).toPassThrough,
      ),
      limit(
        area,
        'route without it: of the same in an app without NestLens',
        1.03,
        find('plain', false).toNoLens,
      ),
      ...(sdk
        ? [
            limit(
              area,
              'the route of the server span: more than without NestLens',
              1_000,
              find('served', false).moreNs,
              {
                unit: 'ns',
              },
            ),
          ]
        : []),
      ...routes
        .filter(({ onToIt }) => onToIt)
        .map(({ variant, later, onToIt }) =>
          limit(area, `annotated handler, on, ${later ? 'async' : 'sync'}: of ${variant}`, 1, onToIt),
        ),
    ];
  });

const serversLimits = (servers) =>
  servers.map(({ workspace, adapter, variants }) => {
    const bytesOf = (name) => variants.find(({ variant }) => variant === name).bytesToPlain;
    const area = `${workspace === 'nest-11' ? 'Nest 11' : 'Nest 12'}, ${adapter}`;
    return limit(
      area,
      'annotated handler, off: bytes a request, off the bare one by',
      0.5,
      Math.abs(bytesOf('off') - 1) * 100,
      { unit: '%', control: { median: bytesOf('plain-again') } },
    );
  });

const growthLimits = ({ registrations, factors, documentFactors }) => [
  ...registrations.map(({ what, ms }) =>
    limit('growth', `${what}: 100 namespaces of 10 groups`, 50, ms, { unit: 'ms' }),
  ),
  ...factors.map(({ what, factor }) =>
    limit('growth', `${what}: 100 to 10,000 groups, N log N`, 200, factor),
  ),
  ...documentFactors
    .filter(({ what }) => what.startsWith('GET'))
    .map(({ what, factor }) => limit('growth', `${what}: 10,000 sites, of 100`, 20, factor)),
];

const bootLimits = (boot) =>
  boot.flatMap(({ workspace, ratio, autoRatio, autoToModule }) => {
    const what = `1,000 controllers, ${workspace === 'nest-11' ? 'Nest 11' : 'Nest 12'}`;
    return [
      limit('boot', `${what}: of without NestLens`, 1.05, ratio),
      ...(autoRatio
        ? [limit('boot', `${what}, all of autoGroups: of without NestLens`, 1.15, autoRatio)]
        : []),
      ...(autoToModule
        ? [limit('boot', `${what}, all of autoGroups: of without autoGroups`, 1.15, autoToModule)]
        : []),
    ];
  });

/**
 * How much of what an instrumentation costs is left when its group is off: its own wrapping. Measured when the mechanism was chosen:
 * http 0.33 of 0.51, pg 0.21 of 0.52, graphql 0.26 of 0.60, ioredis nothing of 0.24. The operation itself costs another share of all
 * that on each machine.
 */
const OFF_OF_UNGATED = { http: 0.65, pg: 0.41, graphql: 0.44, ioredis: 0.1 };

const instrumentationsLimits = (rows) =>
  rows.flatMap(({ subject, onToUngated, ungatedRatio, offRatio, bytes }) => [
    limit('instrumentations', `${subject}, on: of ungated`, 1.02, onToUngated),
    ...(subject in OFF_OF_UNGATED
      ? [
          limit(
            'instrumentations',
            `${subject}, off: of what ungated costs more than absent`,
            OFF_OF_UNGATED[subject],
            (offRatio.median - 1) / (ungatedRatio.median - 1),
          ),
        ]
      : []),
    ...(subject === SHOP
      ? [
          limit(
            'instrumentations',
            `${subject}, bytes at \`default\`: of ungated`,
            0.2,
            bytes.default / bytes.ungated,
          ),
        ]
      : []),
  ]);

/** Every limit that a run has measured. */
export function judge({ sites, sitesOnNode24, peers, router, servers, growth, instrumentations, boot }) {
  return [
    ...(sites ? [...sitesLimits(sites), ...onLimits(sites)] : []),
    ...(sitesOnNode24 ? sitesLimits(sitesOnNode24, true) : []),
    ...(peers ? peersLimits(peers) : []),
    ...(router ? routerLimits(router) : []),
    ...(servers ? serversLimits(servers) : []),
    ...(growth ? growthLimits(growth) : []),
    ...(instrumentations ? instrumentationsLimits(instrumentations) : []),
    ...(boot ? bootLimits(boot) : []),
  ].map((each) => ({ ...each, reached: isReached(each), explanation: explain(each) }));
}

/** Less than a byte a call is what the counting itself leaves: the smallest object has sixteen. */
const isReached = ({ limit: most, unit, measured }) => measured <= (unit === 'B' ? most + 0.9 : most);

/** Whether the check fails: a line is three times over its limit, and no explanation below fits it. */
export const isRegression = ({ limit: most, unit, measured, explanation }) =>
  explanation === undefined && measured > (unit === 'B' ? 16 : most * 3);

const ns = (value) => `${value >= 100 ? Math.round(value) : value.toFixed(1)} ns`;
const more = (row, of = 'direct') => row.off.median - row[of].median;

/**
 * Why a line may be over its limit, with the measurement that shows it. Each explanation holds up to a bound of its own. The
 * first that fits counts. The figures are those of the run.
 */
const EXPLANATIONS = [
  {
    mark: 'noise',
    fits: ({ limit: most, unit, measured, control }) =>
      control !== undefined &&
      measured - most <= Math.abs(control - 1) * (unit === '%' ? 100 : 1) &&
      measured <= most * (unit === '%' ? 3 : 1.1),
    text: () => `Two equal things lay as far apart in the same rounds: see _direct again_ and _plain-again_.`,
  },
  {
    mark: 'sixteen',
    fits: ({ area, what, unit, measured }) =>
      area.startsWith('off') && what.includes('async, 16 sites') && unit === '' && measured <= 1.25,
    text: ({ sites, sitesOnNode24 }) => {
      const said = [sites, sitesOnNode24].filter(Boolean).flatMap((rows, i) =>
        ['SpanGroup', 'traceFn'].map((primitive) => {
          const row = rows.find((each) => each.primitive === primitive && each.later && each.count === 16);
          return `${ns(more(row))} of ${ns(row.direct.median)} (\`${primitive}\`${i === 1 ? ', Node 24' : ''})`;
        }),
      );
      return `Called at one place in turn, sixteen sites are what V8 can't inline, so the gate costs about what calling a
function costs: ${said.join(', ')}. The async method does nothing and
waits for nothing; one that waits takes microseconds, of which these are less than a hundredth. Three ways to forward the
call (\`apply\`, \`Reflect.apply\`, and that held in a constant) measured the same. At one site the limit is kept.`;
    },
  },
  {
    mark: 'safety',
    fits: ({ area, what, measured }) =>
      area === 'on, with an SDK' && what.startsWith('SpanGroup, sync') && measured <= 1.2,
    text: () => `A decorated method finds out on each call whose method it is (the span bears the actual class's name),
whether an interceptor's or an overriding method's span covers the call already, and which provider is registered. With
these three left out the same loop measured 1.04 to 1.06 of by hand; together they are about 60 ns of a span of 2,000.`,
  },
  {
    mark: 'options',
    fits: ({ area, what, measured }) =>
      area === 'on, with an SDK' && what.startsWith('managedSpan, attributes') && measured <= 1.2,
    text: () => `By hand the attributes are written into the call; \`managedSpan\` calls the function that computes them, so that
nothing is computed while the group is off, and survives one that throws.`,
  },
  {
    mark: 'members',
    fits: ({ area, what, measured }) =>
      area === 'on, with an SDK' && what.includes('async') && measured <= 1.25,
    text: () => `The caller gets a promise that settles with the work's, and has its members, those with symbols too. To list them
takes 0.1 µs while an \`AsyncLocalStorage\` is in use, because Node keeps three symbols of its own on each promise.`,
  },
  {
    mark: 'unnamed',
    fits: ({ area, what, measured }) =>
      area.includes('router') && what.startsWith('route without it') && measured <= 1.1,
    text: () => `With an SDK, every route tells its pattern to the server span around the request. The look for that span takes
some 30 ns; Nest's handler alone, without a socket, takes 390.`,
  },
  {
    mark: 'rounds',
    fits: ({ area, what, measured, spread }) =>
      area === 'instrumentations' && what.endsWith('of ungated') && spread?.[0] < 1 && measured <= 1.06,
    text: () =>
      `The rounds lie further apart than the two: a span that is on is made by the tracer's own method.`,
  },
  {
    mark: 'tie',
    fits: ({ area, what, measured }) =>
      area === 'on, with an SDK' && what.startsWith('@SpanGroup') && measured <= 1.03,
    text: () =>
      `A tie: nearly all of either is the SDK's own work, and the rounds lie further apart than the two.`,
  },
  {
    mark: 'route',
    fits: ({ area, what, measured }) =>
      area.includes('router') && what.startsWith('annotated handler, on') && measured <= 1.15,
    text: () => `Besides the same span with the same attributes, a handler's span tells the HTTP server span around it which
route it answers, judges what was thrown by the status that Nest answers with, and is rescued at a shutdown.`,
  },
  {
    mark: 'name',
    fits: ({ area, what, unit, measured }) =>
      area.startsWith('off') && what.startsWith('managedSpan') && unit === '' && measured <= 2,
    text: ({ sites }) => {
      const [one, sixteen] = sites.filter(({ primitive }) => primitive === 'isSpanGroupEnabled');
      return `\`managedSpan\` is given the group's name on each call and looks it up in a set of ten that are on. See
_isSpanGroupEnabled_, which is that and the call of a function around it: ${ns(more(one))} at one site, ${ns(more(sixteen))} at sixteen.`;
    },
  },
  {
    mark: 'boot',
    fits: ({ area, measured }) => area === 'boot' && measured <= 1.15,
    text: ({ boot }) => {
      const each = boot.map(
        (row) =>
          `${(((row.ratio.median - 1) * row.without.median) / 2).toFixed(1)} µs (${row.workspace === 'nest-11' ? 'Nest 11' : 'Nest 12'})`,
      );
      return `For each of the 2,000 handlers that is ${each.join(' and ')}, cold, module and all. Two thirds of it are the
wrapper and what \`reflect-metadata\` keeps for it; a handler's own decorators cost as much without NestLens. A real controller
injects, validates and connects; this one does nothing else.`;
    },
  },
  {
    mark: 'router',
    fits: ({ area, what, measured }) =>
      area.includes('router') && what.startsWith('annotated handler, off') && measured <= 1.06,
    text: ({ router }) => {
      const said = router
        .filter(({ sdk }) => !sdk)
        .map(({ workspace, routes }) => {
          const [plain, again, off] = ['plain', 'plain-again', 'off'].map(
            (name) => routes.find(({ variant, later }) => variant === name && !later).ns.median,
          );
          return `${workspace === 'nest-11' ? 'Nest 11' : 'Nest 12'}: ${ns(off - plain)} more of ${ns(plain)}, and ${ns(Math.abs(again - plain))} between two equal ones`;
        });
      return `Without a socket and without an SDK a request takes about a microsecond. ${said.join('; ')}. The bytes are the
same to the byte.`;
    },
  },
  {
    mark: 'memory',
    fits: ({ area, what, measured }) => area === 'growth' && what.includes('N log N') && measured <= 320,
    text: ({ growth }) => {
      const each = [
        [100, 10],
        [1_000, 100],
        [10_000, 100],
      ].map(([groups, namespaces]) => {
        const row = growth.registry.find(
          (one) => one.what === 'resolve' && one.groups === groups && one.namespaces === namespaces,
        );
        return `${((row.us.min * 1_000) / groups).toFixed(0)} ns at ${groups.toLocaleString('en-US')}`;
      });
      return `The operation is linear; what grows is the price of memory: larger sets are read from further away. To resolve
costs, for each group, ${each.join(', ')}.`;
    },
  },
];

/** The mark of what explains a miss. */
const explain = (each) => (isReached(each) ? undefined : EXPLANATIONS.find(({ fits }) => fits(each))?.mark);

/** What the marks of a full run say: each with its text. */
export function explanationsOf(run) {
  const marks = new Set(run.limits.map(({ explanation }) => explanation));
  return EXPLANATIONS.filter(({ mark }) => marks.has(mark)).map(({ mark, text }) => ({
    mark,
    text: text(run),
  }));
}
