import { Module } from '@nestjs/common';
import { defineSpanGroups, NestLensModule } from 'nest-lens';
import { OrdersController } from './nestjs-core-app.js';

// #region nestjs-core-after
export const shop = defineSpanGroups({
  namespace: 'shop',
  groups: ['requests'],
  presets: { default: ['requests'], per_request: ['requests'] },
});

@Module({
  imports: [NestLensModule.forRoot({ registrations: [shop], autoGroups: { handlers: 'requests' } })],
  controllers: [OrdersController],
})
export class AppModule {}
// #endregion
