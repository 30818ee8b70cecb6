/** Measures the registry, and the document that explains it, at several sizes. */
import { argv } from 'node:process';
import { measureInRounds } from './rounds.mjs';

const { short } = JSON.parse(argv[2]);
const { load } = await import('./workspaces/project/load.mjs');
const lens = await load('nest-lens');
const { Controller, Get, Module } = await load('@nestjs/common');
const { NestFactory } = await load('@nestjs/core');
const { ExpressAdapter } = await load('@nestjs/platform-express');
const { decorate } = await import('./subjects/site.mjs');

const silent = { warn: () => undefined };
lens.setLensLogger(silent);

/** `groups` groups in `namespaces` namespaces, each with two presets. */
function createDefinitions(groups, namespaces) {
  const each = groups / namespaces;
  return Array.from({ length: namespaces }, (_, n) => {
    const names = Array.from({ length: each }, (_, i) => `group_${n}_${i}`);
    return [`namespace_${n}`, names, { default: names.slice(0, 1), per_request: names }];
  });
}

const registerAll = (definitions) => {
  for (const definition of definitions) lens.SpanRegistry.register(...definition);
};

const SPEC = 'default,per_request,group_1*,-group_2_0,not_there';
const times = (count, entry) => Array.from({ length: count }, (_, i) => entry(i));
const LONG_SPEC = [
  'default',
  ...times(10, (i) => `group_${i}*_${i}`),
  ...times(10, (i) => `-*_${i}_*1`),
  ...times(10, (i) => `none_${i}_*`),
  ...times(30, (i) => `gruop_${i}_x`),
].join(',');

function createRegistryCases(groups, namespaces) {
  const definitions = createDefinitions(groups, namespaces);
  const fill = () => {
    lens.SpanRegistry.clear();
    registerAll(definitions);
  };
  const withSpec = (spec, prepare) => () => {
    lens.SpanRegistry.clear();
    lens.setSpanGroupSpec(spec);
    prepare?.();
  };
  const size = `${groups} in ${namespaces}`;
  return [
    { what: 'register', before: withSpec(''), run: fill },
    { what: 'register late, with a spec', before: withSpec(SPEC), run: fill },
    { what: 'register late, with many wildcards and pending names', before: withSpec(LONG_SPEC), run: fill },
    {
      what: 'register late, each group of the spec comes with one',
      before: withSpec(definitions.map(([, names]) => names[0]).join(',')),
      run: fill,
      iterations: 1,
    },
    {
      what: 'register late and unregister',
      before: withSpec(SPEC),
      run: () => {
        fill();
        for (const [namespace] of definitions) lens.SpanRegistry.unregister(namespace);
      },
    },
    { what: 'resolve', before: withSpec('', fill), run: () => lens.SpanRegistry.resolve(SPEC) },
    {
      what: 'override and clear',
      before: withSpec('default', fill),
      run: () => {
        lens.overrideSpanGroups(SPEC);
        lens.clearSpanGroupOverride();
      },
    },
  ].map((each) => ({ ...each, name: `${each.what}: ${size}`, calls: 1 }));
}

const SIZES = short
  ? [
      [100, 10],
      [1_000, 100],
      [10_000, 100],
    ]
  : [
      [10, 1],
      [100, 1],
      [100, 10],
      [1_000, 1],
      [1_000, 100],
      [10_000, 1],
      [10_000, 100],
    ];
const amount = short ? { rounds: 3, slotMs: 1, warmupRounds: 1 } : { rounds: 7, slotMs: 10, warmupRounds: 1 };
const registry = [];
for (const [groups, namespaces] of SIZES) {
  const cases = createRegistryCases(groups, namespaces);
  const taken = await measureInRounds(cases, amount);
  for (const { name, what } of cases) registry.push({ what, groups, namespaces, ns: taken[name] });
}
lens.SpanRegistry.clear();
lens.setSpanGroupSpec('');

/** An application with so many decorated handlers, in so many groups; asked over HTTP. */
async function createAppWithSites(sites, groups) {
  const names = Array.from({ length: groups }, (_, i) => `app_${sites}_${i}`);
  const controllers = Array.from({ length: sites / 100 }, (_, c) => {
    class Orders {}
    for (let m = 0; m < 100; m++) {
      Orders.prototype[`handle${m}`] = { [`handle${m}`]: () => c }[`handle${m}`];
      decorate(Orders, `handle${m}`, Get(String(m)), lens.SpanGroup(names[(c * 100 + m) % groups]));
    }
    Controller(`orders-${c}`)(Orders);
    return Orders;
  });
  class AppModule {}
  Module({ imports: [lens.NestLensModule.forRoot()], controllers })(AppModule);
  lens.SpanRegistry.register(`app_${sites}_${groups}`, names);
  const app = await NestFactory.create(AppModule, new ExpressAdapter(), { logger: false });
  lens.setLensLogger(silent);
  await app.listen(0, '127.0.0.1');
  return app;
}

const document = [];
const APPS = [
  [100, 20],
  [1_000, 20],
  [10_000, 20],
  [10_000, 1_000],
];
for (const [sites, groups] of short ? [] : APPS) {
  const app = await createAppWithSites(sites, groups);
  const url = await app.getUrl();
  const registryService = app.get(lens.SpanRegistryService);
  const cases = [
    { name: 'describe()', run: () => registryService.describe() },
    { name: 'GET /lens/groups', run: async () => (await fetch(`${url}/lens/groups`)).text() },
    { name: 'GET /lens/groups?sites=1', run: async () => (await fetch(`${url}/lens/groups?sites=1`)).text() },
  ].map((each) => ({ ...each, calls: 1 }));
  const taken = await measureInRounds(cases, { rounds: 7, slotMs: 20, warmupRounds: 2 });
  for (const { name } of cases) document.push({ what: name, sites, groups, ns: taken[name] });
  await app.close();
  lens.SpanRegistry.clear();
}

process.send({ registry, document });
process.disconnect();
