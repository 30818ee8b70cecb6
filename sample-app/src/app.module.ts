import { type DynamicModule, Module } from '@nestjs/common';
import { NestLensModule, type NestLensModuleOptions } from 'nest-lens';
import { CatalogModule } from './catalog/catalog.module.js';
import { OrdersModule } from './orders/orders.module.js';
import { PaymentsModule } from './payments/payments.module.js';

@Module({})
export class AppModule {
  /** The shop. `lens` is for tests and the demo; a real start leaves everything to the environment. */
  static create(lens: NestLensModuleOptions = {}): DynamicModule {
    return {
      module: AppModule,
      imports: [NestLensModule.forRoot(lens), CatalogModule, PaymentsModule, OrdersModule],
    };
  }
}
