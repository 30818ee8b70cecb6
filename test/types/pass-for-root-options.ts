// Must compile: the options of the module.
import { type CanActivate, Injectable, Module } from '@nestjs/common';
import type { NodeSDKConfiguration } from '@opentelemetry/sdk-node';
import {
  defineSpanGroups,
  NestLensModule,
  type NestLensModuleOptions,
  type NestLensOptionsFactory,
  type SetupOptions,
} from 'nest-lens';
import { captureSpans } from 'nest-lens/testing';

const shop = defineSpanGroups({ namespace: 'shop', groups: ['orders'] });

@Injectable()
class OperatorGuard implements CanActivate {
  canActivate() {
    return true;
  }
}

@Module({
  imports: [
    NestLensModule.forRoot(),
    NestLensModule.forRoot({ introspection: false }),
    NestLensModule.forRoot({
      registrations: [shop, { namespace: 'plain', groups: ['one'] }],
      config: { enabled: true, spanGroups: 'default', exporter: 'console' },
      env: { prefix: 'SHOP' },
      setupAt: 'init',
      shutdownTimeoutMs: 1000,
      introspection: { path: 'internal', guards: [OperatorGuard], runtimeControl: true },
    }),
    NestLensModule.forFeature(shop, { namespace: 'other', groups: ['two'] }),
  ],
})
export class AppModule {}

export class Options implements NestLensOptionsFactory {
  async createNestLensOptions() {
    return { config: { spanGroups: 'all' } };
  }
}
NestLensModule.forRootAsync({ useClass: Options });
NestLensModule.forRootAsync({
  inject: ['SPANS'],
  useFactory: (spanGroups: string) => ({ config: { spanGroups } }),
});

// What the installed SDK calls its parts fits, in both directions.
declare const processor: NonNullable<NodeSDKConfiguration['spanProcessors']>[number];
declare const reader: NonNullable<NodeSDKConfiguration['metricReaders']>[number];
declare const exporter: NonNullable<NodeSDKConfiguration['traceExporter']>;
declare const instrumentations: NodeSDKConfiguration['instrumentations'];
export const telemetry: SetupOptions = {
  spanProcessors: [processor],
  spanExporter: exporter,
  metricReader: reader,
  instrumentations,
  resourceAttributes: { 'service.version': '1.0.0' },
  mode: 'own',
};
export const options: NestLensModuleOptions = { telemetry };
export const own: Partial<NodeSDKConfiguration> = { spanProcessors: [captureSpans().spanProcessor] };
