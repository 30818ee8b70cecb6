import { OperatorGuard } from './operator-guard.js';
import { Settings, SettingsModule } from './settings.js';
import { shop } from './shop-spans.js';

// #region for-root-async
import { Module } from '@nestjs/common';
import { NestLensModule } from 'nest-lens';

@Module({
  imports: [
    NestLensModule.forRootAsync({
      imports: [SettingsModule],
      inject: [Settings],
      useFactory: async (settings: Settings) => ({
        registrations: [shop],
        config: { enabled: settings.tracing, spanGroups: settings.spans },
      }),
      introspection: { guards: [OperatorGuard] },
    }),
  ],
})
export class AppModule {}
// #endregion
