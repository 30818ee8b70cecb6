/**
 * What NestLens promises about its cost, and what a run says of it. A limit that isn't reached needs an explanation here.
 *
 * @typedef {{ area: string, what: string, limit: number, unit: '' | 'B' | '%', measured: number, spread?: [number, number] }} Limit
 */

/** @returns {Limit} */
const limit = (area, what, most, measured, unit = '') =>
  typeof measured === 'number'
    ? { area, what, limit: most, unit, measured }
    : { area, what, limit: most, unit, measured: measured.median, spread: [measured.min, measured.max] };

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
        limit(area, `${what}: of ${OFF_BASE[site.primitive]}`, offLimit(site, isNode24), site.offRatio),
        ...(site.offBytes === undefined ? [] : [limit(area, `${what}: bytes more`, 0, site.offBytes, 'B')]),
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
      '%',
    );
  });

const growthLimits = ({ factors, documentFactors }) => [
  ...factors.map(({ what, factor }) =>
    limit('growth', `${what}: 100 times the namespaces, N log N`, 200, factor),
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

/** Why a limit may be missed, with the measurement that says so. */
const EXPLANATIONS = [];

function explain(each) {
  if (isReached(each)) return undefined;
  return EXPLANATIONS.find(({ matches }) => matches(each))?.because;
}
