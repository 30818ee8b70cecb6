import { shop } from './shop-spans.js';

// #region spec-file
import { Module } from '@nestjs/common';
import { fileSpecSource, NestLensModule } from 'nest-lens';

@Module({
  imports: [
    NestLensModule.forRoot({
      registrations: [shop],
      specSource: fileSpecSource('/etc/nest-lens/span-groups'),
    }),
  ],
})
export class AppModule {}
// #endregion
