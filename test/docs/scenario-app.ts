import 'reflect-metadata';
import {
  Controller,
  Get,
  type INestApplication,
  Module,
  type NestApplicationOptions,
  type Provider,
} from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { NestLensModule, type NestLensModuleOptions, SpanGroup } from 'nest-lens';

@Controller()
class OrdersController {
  @Get('orders')
  @SpanGroup('orders')
  list(): string[] {
    return ['anvil'];
  }
}

export interface ScenarioAppOptions {
  /** Over: namespace `shop` with group `orders`, enabled, every group on, no metrics. */
  lens?: Omit<NestLensModuleOptions, 'registrations'>;
  providers?: Provider[];
  application?: NestApplicationOptions;
}

const apps = new Set<INestApplication>();

/**
 * Closes what a test has left. For an `afterEach` inside of a `describe`: it runs before those of the set-up file, which reset
 * what an application needs to close.
 */
export async function closeApps(): Promise<void> {
  for (const app of apps) await app.close().catch(() => undefined);
  apps.clear();
}

/** An application of this process that isn't started. */
export async function createApp({
  lens = {},
  providers = [],
  application = {},
}: ScenarioAppOptions = {}): Promise<INestApplication> {
  const { config, ...others } = lens;
  @Module({
    imports: [
      NestLensModule.forRoot({
        registrations: [{ namespace: 'shop', groups: ['orders'] }],
        config: { enabled: true, spanGroups: 'all', metricsEnabled: false, ...config },
        ...others,
      }),
    ],
    controllers: [OrdersController],
    providers,
  })
  class AppModule {}
  const app = await NestFactory.create(AppModule, { logger: false, ...application });
  apps.add(app);
  return app;
}

/** An application of this process that serves. */
export async function startApp(options?: ScenarioAppOptions): Promise<INestApplication> {
  const app = await createApp(options);
  await app.listen(0, '127.0.0.1');
  return app;
}

export async function ask(app: INestApplication, path = '/orders'): Promise<string> {
  return (await fetch(`${await app.getUrl()}${path}`)).text();
}

/** What `GET /lens/groups` says. */
export async function lensGroupsOf(app: INestApplication): Promise<any> {
  return JSON.parse(await ask(app, '/lens/groups'));
}
