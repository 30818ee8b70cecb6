import { OperatorGuard } from './operator-guard.js';
import { shop } from './shop-spans.js';

// #region runtime-control
import { Module } from '@nestjs/common';
import { NestLensModule } from 'nest-lens';

@Module({
  imports: [
    NestLensModule.forRoot({
      registrations: [shop],
      introspection: { guards: [OperatorGuard], runtimeControl: true },
    }),
  ],
})
export class AppModule {}
// #endregion
