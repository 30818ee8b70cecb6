// As a whole: webpack 5.113 warns about a `createRequire` that is imported by its name.
import * as nodeModule from 'node:module';
import { join } from 'node:path';
import type { InstrumentationScope } from '../state/state-shape.js';

/** Packages of instrumentations, whose names are those of their scopes or give the same group. */
const PACKAGE =
  /[\\/]node_modules[\\/](@opentelemetry[\\/]instrumentation-[^\\/]+|@fastify[\\/]otel|@prisma[\\/]instrumentation)[\\/]/;

/** Those that make no spans: they add the trace to log lines, or only measure. */
const WITHOUT_SPANS = /-(bunyan|pino|winston|runtime-node|host-metrics)$/;

/**
 * The instrumentations whose packages are loaded: also where the application, or `auto-instrumentations-node/register`, has
 * registered them itself and NestLens wasn't given any. Their versions show with their first spans.
 */
export function loadedInstrumentations(): InstrumentationScope[] {
  const names = new Set<string>();
  for (const file of Object.keys(nodeModule.createRequire(join(process.cwd(), 'any.js')).cache)) {
    const name = PACKAGE.exec(file)?.[1]?.replace('\\', '/');
    if (name !== undefined && !WITHOUT_SPANS.test(name)) names.add(name);
  }
  return [...names].map((name) => ({ name }));
}
