/**
 * What NestLens promises about its cost, and what a run says of it. A limit that isn't reached needs an explanation here.
 *
 * @typedef {{ area: string, what: string, limit: number, unit: '' | 'B' | '%', measured: number,
 *   spread?: [number, number], control?: number }} Limit `control`: the ratio of two equal things in the same run
 */

/** @returns {Limit} */
const limit = (area, what, most, measured, { unit = '', control } = {}) =>
  typeof measured === 'number'
    ? { area, what, limit: most, unit, measured }
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
    ];
  });

const serversLimits = (servers) =>
  servers.map(({ workspace, adapter, variants }) => {
    const { bytesToPlain } = variants.find(({ variant }) => variant === 'off');
    const area = `${workspace === 'nest-11' ? 'Nest 11' : 'Nest 12'}, ${adapter}`;
    return limit(
      area,
      'annotated handler, off: bytes a request, off the bare one by',
      0.5,
      Math.abs(bytesToPlain - 1) * 100,
      { unit: '%' },
    );
  });

const growthLimits = ({ factors, documentFactors }) => [
  ...factors.map(({ what, factor }) =>
    limit('growth', `${what}: 10 to 1,000 namespaces, N log N`, 200, factor),
  ),
  ...documentFactors
    .filter(({ what }) => what.startsWith('GET'))
    .map(({ what, factor }) => limit('growth', `${what}: 10,000 sites, of 100`, 20, factor)),
];

const bootLimits = (boot) =>
  boot.map(({ workspace, ratio }) =>
    limit(
      'boot',
      `1,000 controllers, ${workspace === 'nest-11' ? 'Nest 11' : 'Nest 12'}: of without`,
      1.05,
      ratio,
    ),
  );

/** Every limit that a run has measured. */
export function judge({ sites, sitesOnNode24, peers, router, servers, growth, boot }) {
  return [
    ...(sites ? [...sitesLimits(sites), ...onLimits(sites)] : []),
    ...(sitesOnNode24 ? sitesLimits(sitesOnNode24, true) : []),
    ...(peers ? peersLimits(peers) : []),
    ...(router ? routerLimits(router) : []),
    ...(servers ? serversLimits(servers) : []),
    ...(growth ? growthLimits(growth) : []),
    ...(boot ? bootLimits(boot) : []),
  ].map((each) => ({ ...each, reached: isReached(each), explanation: explain(each) }));
}

/** Half a byte a call is what the counting itself leaves. */
const isReached = ({ limit: most, unit, measured }) => measured <= (unit === 'B' ? most + 0.5 : most);

/** Far outside the noise: what the check fails on. */
export const isRegression = ({ limit: most, unit, measured }) => measured > (unit === 'B' ? 16 : most * 3);

/** Why a limit may be missed, with the measurement that says so. The first that fits counts. */
const EXPLANATIONS = [
  {
    mark: 'noise',
    fits: ({ limit: most, measured, control }) =>
      control !== undefined && measured - most <= Math.abs(control - 1),
    text: `Two equal things lay as far apart in the same rounds: see _direct again_ and _plain-again_.`,
  },
  {
    mark: 'sixteen',
    fits: ({ what }) => what.includes('async, 16 sites'),
    text: `The gate itself takes what it takes in the sync row of sixteen sites, 4 to 7 ns: V8 can't inline a target that it
sees changing. An async call that does nothing takes 60 to 90 ns, so that is more than a twentieth of it. At one site, where
V8 inlines, the limit is kept; a call that really waits takes microseconds.`,
  },
  {
    mark: 'safety',
    fits: ({ area, what }) => area.startsWith('on') && what.includes('SpanGroup') && what.includes('sync, '),
    text: `A decorated method finds out on each call whose method it is (the span bears the actual class's name), whether an
interceptor's or an overriding method's span covers the call already, and which provider is registered. With these three
left out the same loop measured 1.04 to 1.06 of by hand; together they are about 60 ns of a span of 2,000. Looking the
active context up once instead of three times, and keeping track of spans only when they outlive their call, took it there
from 1.13. The async call measured 1.02 to 1.08 on its own; far above that is a disturbed run, see how far its rounds lie apart.`,
  },
  {
    mark: 'name',
    fits: ({ area, what }) => area.startsWith('off') && what.startsWith('managedSpan'),
    text: `\`managedSpan\` is given the group's name on each call and looks it up: \`Set.has\` takes 3 to 6 ns with ten groups
on, see _isSpanGroupEnabled_, and the call of the closure itself 13 to 16. Between processes it measured 1.1 to 1.6.`,
  },
  {
    mark: 'boot',
    fits: ({ area }) => area === 'boot',
    text: `Decorating takes about 15 µs for each of the 2,000 handlers, cold; the rest of NestLens's part of the boot, once
for all of them, is below 10 ms (a CPU profile of one boot). Of the 15 µs a third is the bookkeeping of \`reflect-metadata\`,
which each handler's own decorators pay as well, and a third makes the wrapper look like the method. A real controller
injects, validates and connects; this one does nothing else.`,
  },
  {
    mark: 'router',
    fits: ({ area, what }) => area.includes('router') && what.startsWith('annotated'),
    text: `The gate is 20 to 40 ns of a request through the router alone, on either version. Without a socket and without an
SDK such a request takes less than 1 µs, so a run that is disturbed a little shows 1.04; the bytes are the same to the
byte.`,
  },
  {
    mark: 'memory',
    fits: ({ area, what }) => area === 'growth' && what.includes('10 to 1,000 namespaces'),
    text: `The operations are linear; what grows is the price of memory. A group costs 1 µs to register while a hundred or a
thousand of them fit into the processor's caches and die young, and 3 to 5 µs from 10,000 on, a third of it collection. It
stays there: in a run on its own 30,000 groups took 3.9 µs each.`,
  },
];

function explain(each) {
  if (isReached(each)) return undefined;
  const found = EXPLANATIONS.find(({ fits }) => fits(each));
  return found && { mark: found.mark, text: found.text };
}
