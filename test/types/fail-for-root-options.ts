// Must not compile. Each comment names the error of the next line.
import { NestLensModule } from 'nest-lens';

// error TS2353 or TS2561
NestLensModule.forRoot({ registration: [] });

// error TS2820 or TS2322
NestLensModule.forRoot({ setupAt: 'bootstap' });

// error TS2322
NestLensModule.forRoot({ config: { exporter: 'jaeger' } });

// error TS2322
NestLensModule.forRoot({ config: { enabled: 'yes' } });

// error TS2353 or TS2561
NestLensModule.forRoot({ config: { spanGroup: 'default' } });

// error TS2322
NestLensModule.forRoot({ introspection: true });

// error TS2322
NestLensModule.forRoot({ introspection: { guards: ['OperatorGuard'] } });

// error TS2322
NestLensModule.forRoot({ registrations: ['orders'] });

// error TS2741
NestLensModule.forRoot({ registrations: [{ namespace: 'shop' }] });

// error TS2345
NestLensModule.forFeature('orders');

// error TS2322
NestLensModule.forRootAsync({ useFactory: () => ({ config: { spanGroups: 1 } }) });
