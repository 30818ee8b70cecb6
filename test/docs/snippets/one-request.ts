import { shop } from './shop-spans.js';

// #region one-request
import { Module } from '@nestjs/common';
import { NestLensModule } from 'nest-lens';

@Module({
  imports: [
    NestLensModule.forRoot({
      registrations: [shop],
      requestOptIn: { key: process.env.NEST_LENS_SIGNING_KEY, allow: ['per_request'] },
    }),
  ],
})
export class AppModule {}
// #endregion
