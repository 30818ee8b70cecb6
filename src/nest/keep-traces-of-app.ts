import { keepRecentTraces } from '../core/telemetry/keep-recent-traces.js';
import type { LensApp } from './lens-app.js';
import { classMethods } from './span-group/class-methods.js';

/** Keeps the last traces of the process, if the endpoint of this application shows them. It is called once telemetry is live. */
export function keepTracesOfApp({ record: { kept, routes } }: LensApp): void {
  if (kept === undefined || kept.introspection === false || kept.introspection.recentTraces === 0) return;
  const ownRoutes = kept.controllers.flatMap((Controller) =>
    classMethods(Controller.prototype as object).flatMap(({ method }) =>
      (routes?.of(Controller, method) ?? []).map(({ template }) => template),
    ),
  );
  keepRecentTraces({ limit: kept.introspection.recentTraces, ownRoutes });
}
