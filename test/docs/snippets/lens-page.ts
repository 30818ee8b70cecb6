import { OperatorGuard } from './operator-guard.js';
import { shop } from './shop-spans.js';

// #region lens-page
import { Module } from '@nestjs/common';
import { NestLensModule } from 'nest-lens';

@Module({
  imports: [
    NestLensModule.forRoot({
      registrations: [shop],
      introspection: { guards: [OperatorGuard], runtimeControl: true, page: true, recentTraces: 100 },
    }),
  ],
})
export class AppModule {}
// #endregion
