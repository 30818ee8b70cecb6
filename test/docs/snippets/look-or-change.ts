import { ViewerGuard } from './viewer-guard.js';
import { OperatorGuard } from './operator-guard.js';
import { shop } from './shop-spans.js';

// #region look-or-change
import { Module } from '@nestjs/common';
import { NestLensModule } from 'nest-lens';

@Module({
  imports: [
    NestLensModule.forRoot({
      registrations: [shop],
      introspection: {
        guards: [ViewerGuard], // who may look
        runtimeControl: {
          guards: [OperatorGuard], // and, of those, who may change
          by: (request) => request.headers['x-forwarded-user'], // what your proxy, or a guard, puts there
        },
      },
    }),
  ],
})
export class AppModule {}
// #endregion
