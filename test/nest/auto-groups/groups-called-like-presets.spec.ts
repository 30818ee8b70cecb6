import { describe, expect, it } from 'vitest';
import { Controller, Get } from '@nestjs/common';
import type { NestLensModuleOptions } from 'nest-lens';
import { express } from '../../support/adapters.js';
import { guardEachTest, lensApp, namesOf } from '../../support/lens-app.js';

@Controller('orders')
class OrdersController {
  @Get()
  list(): string {
    return 'list';
  }
}

describe('a group of autoGroups that is called like a preset', () => {
  guardEachTest();

  const shop = { namespace: 'shop', groups: ['orders'], presets: { fast: ['orders'] } };

  it.each<[string, Partial<NestLensModuleOptions>, group: string, namespace: string]>([
    ['of the application', {}, 'fast', 'auto'],
    ['of instrumentations', { instrumentationGroups: true }, 'caches', 'instrumentation'],
  ])('R21: %s is one warning, and the application starts', async (_what, options, group, namespace) => {
    const lens = await lensApp(express)
      .controllers(OrdersController)
      .forRoot({ registrations: [shop], autoGroups: { handlers: group }, ...options })
      .spec(group)
      .start();
    const said = lens.warnings.splice(0).filter(({ code }) => code === 'PRESET_SHADOWS_GROUP');
    expect(said.map(({ details }) => details)).toEqual([{ namespace, name: group }]);
    expect((await lens.get('/orders')).text).toBe('list');
    expect(namesOf(await lens.spans())).toEqual([]);
  });
});
