/** The application that the requests' benches ask: one route for each variant. */
import { createControllers } from './subjects/handlers.mjs';
import { createRouterAdapter } from './subjects/router-adapter.mjs';

const ADAPTERS = {
  express: async (load) => new (await load('@nestjs/platform-express')).ExpressAdapter(),
  fastify: async (load) => new (await load('@nestjs/platform-fastify')).FastifyAdapter(),
  router: async (load) => createRouterAdapter(await load('@nestjs/core')),
};

/** The exports of a package, CommonJS or not. */
async function exportsOf(load, specifier) {
  const namespace = await load(specifier);
  return { ...namespace.default, ...namespace };
}

/**
 * @param {(specifier: string) => Promise<any>} load imports a package of the workspace
 * @param {{ adapter: string, sdk?: boolean, peers?: boolean, withLens?: boolean }} options `sdk`: one is registered already;
 * without NestLens only a plain route is there
 */
export async function createNestApp(load, { adapter, sdk = false, peers = false, withLens = true }) {
  await load('reflect-metadata');
  const parts = {
    ...(await exportsOf(load, '@nestjs/common')),
    ...(await exportsOf(load, 'nest-lens')),
    ...(peers && {
      ...(await exportsOf(load, 'nestjs-otel')),
      ...(await exportsOf(load, '@amplication/opentelemetry-nestjs/dist/trace/trace-wrapper.js')),
    }),
  };
  const { NestFactory } = await exportsOf(load, '@nestjs/core');
  const controllers = createControllers(parts, { peers });
  const config = { enabled: sdk, spanGroups: 'on', metricsEnabled: false };
  class AppModule {}
  parts.Module({
    imports: withLens ? [parts.NestLensModule.forRoot({ config, telemetry: { mode: 'attach' } })] : [],
    controllers: withLens ? controllers : controllers.slice(0, 1),
  })(AppModule);
  if (!parts.SpanRegistry.groups().has('on')) parts.SpanRegistry.register('bench', ['off', 'on']);
  const server = await ADAPTERS[adapter](load);
  const app = await NestFactory.create(AppModule, server, { logger: ['error', 'warn'] });
  await app.init();
  return { app, server, lens: parts };
}
