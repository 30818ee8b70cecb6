// A small application, in the module system of whoever hands in the packages. Variables say what is special about it:
//   SPANS_FILE   export to this file by code, behind the SDK's own batch processor
//   THROW_IN     a hook in which another module's provider throws
//   MODE         the `mode` of NestLens's telemetry
const { appendFileSync } = require('node:fs');

const { SPANS_FILE, THROW_IN, MODE } = process.env;

/** @param {{ common: object, core: object, lens: object, api: object }} packages */
module.exports = async function startShop({ common, core, lens, api }) {
  const { Controller, Get, Module } = common;
  const { NestLensModule, SpanGroup, managedSpan } = lens;

  /** Applies decorators as the compiler does. */
  function decorate(target, key, ...decorators) {
    let descriptor = Object.getOwnPropertyDescriptor(target.prototype, key);
    for (const decorator of decorators.reverse()) {
      descriptor = decorator(target.prototype, key, descriptor) ?? descriptor;
    }
    Object.defineProperty(target.prototype, key, descriptor);
  }

  class OrdersController {
    list() {
      return ['anvil'];
    }
  }
  decorate(OrdersController, 'list', Get('orders'), SpanGroup('orders'));
  Controller()(OrdersController);

  class Hooks {
    onModuleDestroy() {
      return this.run('onModuleDestroy');
    }
    beforeApplicationShutdown() {
      return this.run('beforeApplicationShutdown');
    }
    onApplicationShutdown() {
      return this.run('onApplicationShutdown');
    }
    async run(hook) {
      await managedSpan('orders', hook, () => new Promise((resolve) => setTimeout(resolve, 1)));
      if (THROW_IN === hook) throw new Error(`thrown in ${hook}`);
    }
  }

  const write = (line) => appendFileSync(SPANS_FILE, `${line}\n`);
  const spanExporter = {
    export(spans, done) {
      for (const { name } of spans) write(name);
      done({ code: 0 });
    },
    shutdown: async () => write('(shutdown)'),
    forceFlush: async () => undefined,
  };

  /** What an application that runs an SDK of its own has to keep. */
  const provider = api.trace.getTracerProvider().getDelegate?.();
  const processors = () => provider?._activeSpanProcessor?._spanProcessors?.length;
  const before = processors();
  let shutdowns = 0;
  if (provider?.shutdown) {
    const { shutdown } = provider;
    provider.shutdown = (...args) => {
      shutdowns++;
      return shutdown.apply(provider, args);
    };
  }
  const facts = () => ({
    isKept: api.trace.getTracerProvider().getDelegate?.() === provider,
    processorsAdded: processors() - before,
    shutdowns,
  });

  class AppModule {}
  Module({
    imports: [
      NestLensModule.forRoot({
        registrations: [{ namespace: 'shop', groups: ['orders'], presets: { default: ['orders'] } }],
        ...(SPANS_FILE || MODE
          ? { telemetry: { ...(SPANS_FILE && { spanExporter }), ...(MODE && { mode: MODE }) } }
          : {}),
      }),
    ],
    controllers: [OrdersController],
    providers: [Hooks],
  })(AppModule);

  const app = await core.NestFactory.create(AppModule, {
    logger: ['error', 'warn'],
    forceCloseConnections: true,
  });
  app.enableShutdownHooks();
  app
    .getHttpAdapter()
    .getInstance()
    .get('/close', async (_request, response) => {
      response.end();
      await app.close();
      console.log(`FACTS ${JSON.stringify(facts())}`);
      api.trace.getTracer('shop').startSpan('after the close').end();
    });
  await app.listen(0, '127.0.0.1');
  console.log(`READY ${await app.getUrl()}`);
};
