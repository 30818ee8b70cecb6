import {
  type BeforeApplicationShutdown,
  Module,
  type OnApplicationShutdown,
  type OnModuleDestroy,
} from '@nestjs/common';
import { ModulesContainer } from '@nestjs/core';
import { lensAppOf } from './lens-app.js';

/**
 * Exports what is waiting at the beginning of each phase of closing. Nest 11 gives a close up where a hook of anybody throws,
 * so telemetry, which ends after everybody, would not be asked.
 */
export class ClosingFlush implements OnModuleDestroy, BeforeApplicationShutdown, OnApplicationShutdown {
  constructor(private readonly modules: ModulesContainer) {
    // Nest calls the hooks of closing module by module, by a distance that it has computed by now, the root's first. There is
    // no public way before the root; if this one ends, the flush comes later in the phase.
    for (const module of modules.values()) {
      if (module.metatype === NestLensClosingModule) module.distance = -1;
    }
  }

  /** @internal */
  onModuleDestroy(): Promise<void> {
    return lensAppOf(this.modules).flushAhead();
  }

  /** @internal */
  beforeApplicationShutdown(): Promise<void> {
    return lensAppOf(this.modules).flushAhead();
  }

  /** @internal */
  onApplicationShutdown(): Promise<void> {
    return lensAppOf(this.modules).flushAhead();
  }
}

/** What `forRoot` imports besides: the first module to be asked when the application closes. */
@Module({
  providers: [
    {
      provide: ClosingFlush,
      inject: [ModulesContainer],
      useFactory: (modules: ModulesContainer) => new ClosingFlush(modules),
    },
  ],
})
export class NestLensClosingModule {}
