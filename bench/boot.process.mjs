/** Boots an application with many controllers once, in a process of its own: a boot is always cold. */
import { argv } from 'node:process';
import { decorate } from './subjects/site.mjs';

const { workspace, controllers: count, withLens } = JSON.parse(argv[2]);
const { load } = await import(`./workspaces/${workspace}/load.mjs`);
const { Controller, Get, Module } = await load('@nestjs/common');
const { NestFactory } = await load('@nestjs/core');
const { ExpressAdapter } = await load('@nestjs/platform-express');
const beforeLoad = performance.now();
const lens = withLens ? await load('nest-lens') : undefined;
const loadMs = performance.now() - beforeLoad;

const begun = performance.now();
const names = Array.from({ length: 20 }, (_, i) => `group_${i}`);
const controllers = Array.from({ length: count }, (_, c) => {
  class Orders {
    list() {
      return [];
    }
    read(id) {
      return { id, c };
    }
  }
  for (const method of ['list', 'read']) {
    const ours = lens ? [lens.SpanGroup(names[c % names.length])] : [];
    decorate(Orders, method, Get(method), ...ours);
  }
  Controller(`orders-${c}`)(Orders);
  return Orders;
});
class AppModule {}
// Telemetry is on, and every group is off. The SDK's own start is no part of it.
const imports = lens
  ? [
      lens.NestLensModule.forRoot({
        registrations: [{ namespace: 'bench', groups: names }],
        config: { enabled: true, spanGroups: '' },
        telemetry: { mode: 'attach' },
      }),
    ]
  : [];
Module({ imports, controllers })(AppModule);
const decoratedMs = performance.now() - begun;

const app = await NestFactory.create(AppModule, new ExpressAdapter(), { logger: false });
await app.listen(0, '127.0.0.1');
const bootMs = performance.now() - begun;
await app.close();
process.send({ loadMs, decoratedMs, bootMs });
process.disconnect();
