// Imported as a whole, because webpack 5.113 warns about an import of `createRequire` by name.
import * as nodeModule from 'node:module';
import { join } from 'node:path';
import type { InstrumentationScope } from '../state/state-shape.js';

/** Packages of instrumentations. Their names are the names of their scopes, or give the same group. */
const PACKAGE =
  /[\\/]node_modules[\\/](@opentelemetry[\\/]instrumentation-[^\\/]+|@fastify[\\/]otel|@prisma[\\/]instrumentation)[\\/]/;

/** These make no spans: they add the trace to log lines, or only measure. */
const WITHOUT_SPANS = /-(bunyan|pino|winston|runtime-node|host-metrics)$/;

/**
 * The instrumentations whose packages are loaded. It finds those that the application, or
 * `auto-instrumentations-node/register`, has registered without NestLens. Their versions become known with their first spans.
 */
export function loadedInstrumentations(): InstrumentationScope[] {
  const names = new Set<string>();
  for (const file of Object.keys(nodeModule.createRequire(join(process.cwd(), 'any.js')).cache)) {
    const name = PACKAGE.exec(file)?.[1]?.replace('\\', '/');
    if (name !== undefined && !WITHOUT_SPANS.test(name)) names.add(name);
  }
  return [...names].map((name) => ({ name }));
}
