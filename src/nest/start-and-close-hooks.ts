import type { ModulesContainer } from '@nestjs/core';

/** What is called before, or after, the hooks of everybody else in the application. */
export interface StartAndCloseHooks {
  /** Before the first `onModuleInit`. */
  beforeInit(): void;
  /** Together with the first `onModuleDestroy`. */
  beforeClose(): void;
  /** After the last `onApplicationShutdown`; the application waits for it. */
  afterClose(): Promise<void>;
}

const EDGE_HOOKS = Symbol.for('nest-lens.edge-hooks');

/**
 * Nest calls hooks module by module: its own core module is the first one at a start and the last one at a close, the root
 * module the first one at a close. Seen in 11.0 to 12.5. A module of ours is always somewhere in between, and what waits there
 * holds up the hooks that come after it. So these two modules get a provider each that has nothing but hooks.
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
  // Nest 12 begins with what has the most dependencies, and waits for it.
  const provider = root?.providers.get(EDGE_HOOKS);
  if (provider !== undefined) provider.hierarchyLevel = Number.MAX_SAFE_INTEGER;
}
