import type { ModulesContainer } from '@nestjs/core';

/** Functions to call before or after all other hooks of the application. */
export interface StartAndCloseHooks {
  /** Called before the first `onModuleInit`. */
  beforeInit(): void;
  /** Called together with the first `onModuleDestroy`. */
  beforeClose(): void;
  /**
   * Called after the last `onApplicationShutdown`; the application waits for it. Telemetry is shut down here:
   * `ApplicationHold.release`.
   */
  afterClose(): Promise<void>;
}

const EDGE_HOOKS = Symbol.for('nest-lens.edge-hooks');

/**
 * Nest calls hooks module by module. Its own core module is the first at a start and the last at a close; the root module is
 * the first at a close. Seen in 11.0 to 12.5. Modules of ours are in between, and a hook there that waits would delay the
 * hooks after it. So those two modules get a provider each that has only hooks.
 */
export function addStartAndCloseHooks(modules: ModulesContainer, hooks: StartAndCloseHooks): void {
  const [core, root] = modules.values();
  core?.addProvider({
    provide: EDGE_HOOKS,
    useValue: {
      onModuleInit: () => hooks.beforeInit(),
      onApplicationShutdown: () => hooks.afterClose(),
    },
  });
  root?.addProvider({ provide: EDGE_HOOKS, useValue: { onModuleDestroy: () => hooks.beforeClose() } });
  // Nest 12 begins with the module that has the most dependencies, and waits for it.
  const provider = root?.providers.get(EDGE_HOOKS);
  if (provider !== undefined) provider.hierarchyLevel = Number.MAX_SAFE_INTEGER;
}
