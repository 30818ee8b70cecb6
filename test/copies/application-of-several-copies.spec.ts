// Real applications whose module, decorators, interceptor and tokens come from different copies of the package.
import { beforeAll, describe, expect, it, vi } from 'vitest';
import { runOnCopies, type ScriptRun } from './package-copies.js';

vi.setConfig({ hookTimeout: 60_000 });

/** `a` has the module; `b` is the copy that a library brought. */
const application = (first: string, second: string): string => `
  import 'reflect-metadata';
  import { Controller, Get, Inject, Injectable, Module, UseInterceptors } from '@nestjs/common';
  import { NestFactory } from '@nestjs/core';
  const a = await load(${first}), b = await load(${second});
  const { captureSpans } = await load('two', 'testing');

  /** Decorators as calls, the lowest first. */
  const onMethod = (Class, name, ...decorators) => {
    let descriptor = Object.getOwnPropertyDescriptor(Class.prototype, name);
    for (const decorator of decorators) descriptor = decorator(Class.prototype, name, descriptor) ?? descriptor;
    Object.defineProperty(Class.prototype, name, descriptor);
  };

  class OrdersController {
    constructor(registry) { this.registry = registry; }
    list() { return { namespaces: this.registry.namespaces(), enabled: this.registry.isEnabled('orders') }; }
    wide() { return 'wide'; }
    quiet() { return 'quiet'; }
  }
  Inject(b.SPAN_REGISTRY_SERVICE)(OrdersController, undefined, 0);
  onMethod(OrdersController, 'list', b.SpanGroup('orders'), Get('list'));
  onMethod(OrdersController, 'wide', b.SpanGroup('orders'), UseInterceptors(a.SpanGroupInterceptor), Get('wide'));
  onMethod(OrdersController, 'quiet', b.SpanGroup('orders'), a.NoSpanGroup(), Get('quiet'));
  Controller('orders')(OrdersController);

  const orders = { namespace: 'shop', groups: ['orders'], presets: { default: ['orders'] } };
  const stock = { namespace: 'stock', groups: ['stock'] };
  const boot = async (lens, captured, controllers = [], options = {}, providers = []) => {
    /** As a library does: it injects the class of the copy that it brought. */
    class Stock {
      constructor(registry) { this.registry = registry; }
    }
    Inject(b.SpanRegistryService)(Stock, undefined, 0);
    class FeatureModule {}
    Module({ imports: [b.NestLensModule.forFeature(stock)], controllers, providers: [Stock, ...providers] })(FeatureModule);
    class AppModule {}
    const root = lens.NestLensModule.forRoot({
      registrations: [orders],
      config: { enabled: true, spanGroups: 'default', metricsEnabled: false },
      ...options,
      ...(captured === undefined ? {} : { telemetry: { spanProcessors: [captured.spanProcessor] } }),
    });
    Module({ imports: [root, FeatureModule] })(AppModule);
    const app = await NestFactory.create(AppModule, { logger: false, abortOnError: false });
    await app.listen(0, '127.0.0.1');
    const { registry } = app.get(Stock);
    if (!(registry instanceof b.SpanRegistryService && registry.namespaces().includes('stock'))) {
      throw new Error('The service of the library is not that of its copy.');
    }
    return app;
  };
  const get = async (app, path) => {
    const text = await (await fetch((await app.getUrl()) + path)).text();
    try { return JSON.parse(text); } catch { return text; }
  };
`;

const PAIRS: [name: string, first: string, second: string][] = [
  ['an ESM module and a CommonJS library', "'one', 'index', 'node'", "'one', 'index', 'cjs'"],
  ['a CommonJS module and an ESM library', "'one', 'index', 'cjs'", "'one', 'index', 'node'"],
  ['two copies in different folders', "'one', 'index', 'node'", "'two', 'index', 'node'"],
];

/** One application whose parts come from both; then two, one of each copy, which share a set-up. */
const SCRIPT = `
  async function one() {
    const captured = captureSpans();
    const app = await boot(a, captured, [OrdersController]);
    const answers = [await get(app, '/orders/list'), await get(app, '/orders/wide'), await get(app, '/orders/quiet')];
    const document = await get(app, '/lens/groups?sites=1');
    const spans = captured.spans().map(({ name, attributes }) =>
      [name, attributes['nestlens.group'], attributes['http.route']]);
    const routes = document.groups[0].siteList.map((site) => site.route);
    await app.close();
    return {
      answers,
      spans,
      routes,
      namespaces: document.namespaces,
      groups: document.groups.map(({ name, enabled, siteList }) => [name, enabled, siteList.map((site) => site.name)]),
      warnings: document.warnings,
      left: a.SpanRegistry.namespaces(),
    };
  }

  async function two() {
    const captured = captureSpans();
    const one = await boot(a, captured, [OrdersController]);
    const two = await boot(b, undefined, [OrdersController]);
    const seen = [];
    const note = async (app) => {
      captured.clear();
      await get(app, '/orders/list');
      seen.push([captured.spans().length, a.SpanRegistry.namespaces().length]);
    };
    await note(one);
    await note(two);
    const warned = globalThis[SLOT].recordedWarnings.map(({ code }) => code);
    await one.close();
    await note(two);
    await two.close();
    return { seen, left: b.SpanRegistry.namespaces(), on: b.isSpanGroupEnabled('orders'), warned };
  }

  /** Nothing is decorated. The first application keeps its gates when the second one wants the same. */
  async function auto() {
    class Prices {
      of() { return 7; }
    }
    Injectable()(Prices);
    const method = Prices.prototype.of;
    const captured = captureSpans();
    const options = {
      autoGroups: { providers: 'services', include: [Prices] },
      config: { enabled: true, spanGroups: 'services', metricsEnabled: false },
    };
    const one = await boot(a, captured, [], options, [Prices]);
    const two = await boot(b, undefined, [], options, [Prices]);
    const seen = [];
    for (const app of [one, two]) {
      captured.clear();
      app.get(Prices).of();
      seen.push(captured.spans().map(({ name, attributes }) => [name, attributes['nestlens.group']]));
    }
    await one.close();
    const isKept = Prices.prototype.of !== method;
    await two.close();
    return { seen, isKept, isPutBack: Prices.prototype.of === method };
  }

  result({ one: await one(), two: await two(), auto: await auto() });`;

interface Seen {
  one: unknown;
  two: unknown;
  auto: unknown;
}

let runs: ScriptRun<Seen>[];
beforeAll(async () => {
  runs = await runOnCopies(
    PAIRS.map(([, first, second]) => ({ script: application(first, second) + SCRIPT })),
  );
});

describe.each(PAIRS.map(([name], at) => ({ name, at })))('An application of $name', ({ at }) => {
  it('N2, N3, N4, N5, N7, I10: sees the sites, groups, routes and tokens of both, and makes one span a call', () => {
    expect(runs[at]!.result.one).toEqual({
      answers: [{ namespaces: ['shop', 'stock'], enabled: true }, 'wide', 'quiet'],
      spans: [
        ['OrdersController.list', 'orders', '/orders/list'],
        ['OrdersController.wide', 'orders', '/orders/wide'],
      ],
      routes: ['GET /orders/list', 'GET /orders/wide'],
      namespaces: ['shop', 'stock'],
      groups: [
        ['orders', true, ['OrdersController.list', 'OrdersController.wide']],
        ['stock', false, []],
      ],
      warnings: [],
      left: [],
    });
  });

  it('N2: two applications, one of each copy, share one set-up; the last to close shuts it down', () => {
    expect(runs[at]!.result.two).toEqual({
      seen: [
        [1, 2],
        [1, 2],
        [1, 2],
      ],
      left: [],
      on: false,
      warned: [],
    });
  });

  it('two applications, one of each copy, share the gates of an automatic group', () => {
    const span = [['Prices.of', 'services']];
    expect(runs[at]!.result.auto).toEqual({ seen: [span, span], isKept: true, isPutBack: true });
  });
});
