import { Module } from '@nestjs/common';
import { NestLensModule } from 'nest-lens';
import { OrdersController } from './nestjs-core-app.js';
import { shop } from './nestjs-core-after.js';

@Module({
  imports: [
    // #region nestjs-core-both
    NestLensModule.forRoot({
      registrations: [shop],
      autoGroups: { handlers: 'requests' },
      instrumentationGroups: true,
    }),
    // #endregion
  ],
  controllers: [OrdersController],
})
export class AppModule {}
