import type { InstrumentationScope } from '../state/state-shape.js';
import { loadedFiles } from './loaded-files.js';

/** Packages of instrumentations. Their names are the names of their scopes, or give the same group. */
const PACKAGE =
  /\/node_modules\/(@opentelemetry\/instrumentation-[^/]+|@fastify\/otel|@prisma\/instrumentation)\//;

/** These make no spans: they add the trace to log lines, or only measure. */
const WITHOUT_SPANS = /-(bunyan|pino|winston|runtime-node|host-metrics)$/;

/**
 * The instrumentations whose packages are loaded. It finds those that the application, or
 * `auto-instrumentations-node/register`, has registered without NestLens. Their versions become known with their first spans.
 */
export function loadedInstrumentations(): InstrumentationScope[] {
  const names = new Set<string>();
  for (const file of loadedFiles()) {
    const name = PACKAGE.exec(file)?.[1];
    if (name !== undefined && !WITHOUT_SPANS.test(name)) names.add(name);
  }
  return [...names].map((name) => ({ name }));
}
