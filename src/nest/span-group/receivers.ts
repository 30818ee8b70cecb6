import { processState } from '../../core/state/process-state.js';
import { borrowerOf } from './borrower.js';
import { liveSources, type RouteSource } from './http-routes.js';

/** The applications that run `NestLensModule`; computed anew when one of them comes or goes. */
let epoch: number | undefined;
/** They are held weakly, because an application whose start fails never goes. */
let sources: readonly WeakRef<RouteSource>[] = [];
let instances = new WeakMap<RouteSource, WeakSet<object>>();

/**
 * Whether Nest has made an object for another application than the given ones. Applications of a process share classes, so
 * the gate of one of them is met by calls of the others. This is known for single instances in applications with
 * `NestLensModule`.
 *
 * @param borrowers of {@link borrowerOf}
 */
export function isOfOtherApplication(receiver: unknown, borrowers: ReadonlySet<object>): boolean {
  if (epoch !== processState.routesEpoch) {
    epoch = processState.routesEpoch;
    sources = liveSources().map((source) => new WeakRef(source));
    instances = new WeakMap();
  }
  if (typeof receiver !== 'object' || receiver === null) return false;
  const hasMade = (source: RouteSource): boolean => instancesOf(source).has(receiver);
  const live = sources.flatMap((source) => source.deref() ?? []);
  const others = live.filter(({ modules }) => !borrowers.has(borrowerOf(modules)));
  if (others.length === 0 || !others.some(hasMade)) return false;
  return !live.some((source) => borrowers.has(borrowerOf(source.modules)) && hasMade(source));
}

function instancesOf(source: RouteSource): WeakSet<object> {
  let known = instances.get(source);
  if (known !== undefined) return known;
  known = new WeakSet();
  for (const { controllers, providers, injectables } of source.modules.values()) {
    for (const wrappers of [controllers, providers, injectables]) {
      for (const wrapper of wrappers.values()) {
        const instance: unknown = wrapper.isNotMetatype ? undefined : wrapper.instance;
        if (typeof instance === 'object' && instance !== null) known.add(instance);
      }
    }
  }
  instances.set(source, known);
  return known;
}
