import { type DynamicModule, Module } from '@nestjs/common';
import { NestLensModule, type NestLensModuleOptions } from 'nest-lens';
import { CatalogModule } from './catalog/catalog.module.js';
import { LensTokenGuard } from './lens/lens-token.guard.js';
import { OrdersModule } from './orders/orders.module.js';
import { PaymentsModule } from './payments/payments.module.js';

@Module({})
export class AppModule {
  /** The shop. `lens` is for tests and the demo; a real start leaves everything to the environment. */
  static create(lens: NestLensModuleOptions = {}): DynamicModule {
    return {
      module: AppModule,
      imports: [
        NestLensModule.forRoot({
          // The spans of http, express and pg are in groups, too.
          instrumentationGroups: true,
          // A request with a signed header is traced in full. Without a key nobody looks at headers.
          requestOptIn: { key: process.env['NEST_LENS_SIGNING_KEY'] },
          introspection: {
            guards: [LensTokenGuard],
            runtimeControl: true,
            // The guard lets everybody look, which is fine for developers only.
            ...(process.env['NODE_ENV'] === 'production' ? {} : { page: true, recentTraces: 100 }),
          },
          ...lens,
        }),
        CatalogModule,
        PaymentsModule,
        OrdersModule,
      ],
    };
  }
}
