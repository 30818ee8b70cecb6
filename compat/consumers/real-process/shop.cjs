// A small application, in the module system of whoever hands in the packages. Variables say what is special about it:
//   SPANS_FILE   export to this file by code, behind the SDK's own batch processor
//   THROW_IN     a hook in which another module's provider throws
//   MODE         the `mode` of NestLens's telemetry
//   WITHOUT_LENS leave the module out
//   NOTE_TIMES   say when each hook came and the port was closed, in milliseconds after SIGTERM
const { appendFileSync } = require('node:fs');

const { SPANS_FILE, THROW_IN, MODE, WITHOUT_LENS, NOTE_TIMES } = process.env;

/** @param {{ common: object, core: object, lens: object, api: object }} packages */
module.exports = async function startShop({ common, core, lens, api }) {
  const { Controller, Get, Global, Module } = common;
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

  let toldAt;
  if (NOTE_TIMES) process.once('SIGTERM', () => (toldAt = performance.now()));
  const note = (what) => {
    if (NOTE_TIMES) console.log(`AFTER ${what} ${Math.round(performance.now() - toldAt)}`);
  };

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
      note(`${this.constructor.name}.${hook}`);
      await managedSpan('orders', hook, () => new Promise((resolve) => setTimeout(resolve, 1)));
      if (THROW_IN === hook) throw new Error(`thrown in ${hook}`);
    }
  }

  /** Global modules before and after ours: Nest calls the hooks of the first one last. */
  function globalModule(name) {
    const Provider = { [name]: class extends Hooks {} }[name];
    class GlobalModule {}
    Module({ providers: [Provider] })(GlobalModule);
    Global()(GlobalModule);
    return GlobalModule;
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

  const lensModule = NestLensModule.forRoot({
    registrations: [{ namespace: 'shop', groups: ['orders'], presets: { default: ['orders'] } }],
    ...(SPANS_FILE || MODE
      ? { telemetry: { ...(SPANS_FILE && { spanExporter }), ...(MODE && { mode: MODE }) } }
      : {}),
  });
  const around = NOTE_TIMES ? [globalModule('Before'), globalModule('After')] : [];
  class AppModule {}
  Module({
    imports: [...around.slice(0, 1), ...(WITHOUT_LENS ? [] : [lensModule]), ...around.slice(1)],
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
  app.getHttpServer().once('close', () => note('port'));
  console.log(`READY ${await app.getUrl()}`);
};
