/** Boots an application with many controllers once, in a process of its own: a boot is always cold. */
import process, { argv } from 'node:process';
import { decorate } from './subjects/site.mjs';

/**
 * `variant`: `without` NestLens; `with` it and decorated handlers; `auto`: nothing decorated, all of `autoGroups`; `module`: the same
 * without them.
 */
const { workspace, controllers: count, variant, services } = JSON.parse(argv[2]);
const withLens = variant !== 'without';
const { load } = await import(`./workspaces/${workspace}/load.mjs`);
const { Controller, Get, Injectable, Module, UseGuards } = await load('@nestjs/common');
const { NestFactory } = await load('@nestjs/core');
const { ExpressAdapter } = await load('@nestjs/platform-express');
const beforeLoad = performance.now();
const lens = withLens ? await load('nest-lens') : undefined;
const loadMs = performance.now() - beforeLoad;

const begun = performance.now();
const cpuBegun = process.cpuUsage();
const names = Array.from({ length: 20 }, (_, i) => `group_${i}`);
class Guard {
  canActivate() {
    return true;
  }
}
Injectable()(Guard);
const providers = [];
const controllers = Array.from({ length: count }, (_, c) => {
  if (services) {
    class OrdersService {
      list() {
        return [];
      }
      read(id) {
        return { id, c };
      }
    }
    Injectable()(OrdersService);
    providers.push(OrdersService);
  }
  class Orders {
    list() {
      return [];
    }
    read(id) {
      return { id, c };
    }
  }
  for (const method of ['list', 'read']) {
    const ours = variant === 'with' ? [lens.SpanGroup(names[c % names.length])] : [];
    decorate(Orders, method, Get(method), ...ours);
  }
  Controller(`orders-${c}`)(Orders);
  if (services) {
    UseGuards(Guard)(Orders);
    Reflect.defineMetadata('design:paramtypes', [providers.at(-1)], Orders);
  }
  return Orders;
});
class AppModule {}
// Telemetry is on, and every group is off. The SDK's own start is no part of it.
const imports = lens
  ? [
      lens.NestLensModule.forRoot({
        registrations: [{ namespace: 'bench', groups: names }],
        ...(variant === 'auto' && {
          autoGroups: { handlers: 'handlers', enhancers: 'pipeline', providers: 'services' },
        }),
        config: { enabled: true, spanGroups: '' },
        telemetry: { mode: 'attach' },
      }),
    ]
  : [];
Module({ imports, controllers, providers })(AppModule);
const decoratedMs = performance.now() - begun;

const app = await NestFactory.create(AppModule, new ExpressAdapter(), { logger: false });
await app.listen(0, '127.0.0.1');
const bootMs = performance.now() - begun;
const { user, system } = process.cpuUsage(cpuBegun);
await app.close();
process.send({ loadMs, decoratedMs, bootMs, cpuMs: (user + system) / 1_000 });
process.disconnect();
