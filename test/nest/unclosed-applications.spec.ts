import { setFlagsFromString } from 'node:v8';
import vm from 'node:vm';
import { afterEach, expect, it } from 'vitest';
import { Controller, Get, Module } from '@nestjs/common';
import { ModulesContainer } from '@nestjs/core';
import { Test } from '@nestjs/testing';
import { NestLensModule, SpanGroup } from 'nest-lens';
import { resetNestLens } from 'nest-lens/testing';

@Controller('orders')
class OrdersController {
  @Get()
  @SpanGroup('orders')
  list() {
    return [];
  }
}

/** Starts an application and forgets it, as many a test does. */
async function startAndForget(): Promise<WeakRef<ModulesContainer>> {
  @Module({
    imports: [NestLensModule.forRoot({ registrations: [{ namespace: 'shop', groups: ['orders'] }] })],
    controllers: [OrdersController],
  })
  class AppModule {}
  const testing = await Test.createTestingModule({ imports: [AppModule] }).compile();
  const app = testing.createNestApplication();
  await app.init();
  return new WeakRef(app.get(ModulesContainer));
}

afterEach(() => resetNestLens());

it('N2: an application that nobody closes is not kept by the registry of the process', async () => {
  setFlagsFromString('--expose-gc');
  const collectGarbage = vm.runInNewContext('gc') as () => void;
  const containers: WeakRef<ModulesContainer>[] = [];
  for (let i = 0; i < 10; i++) containers.push(await startAndForget());
  const kept = () => containers.filter((container) => container.deref() !== undefined).length;
  for (let round = 0; kept() > 1 && round < 20; round++) {
    await new Promise((resolve) => setImmediate(resolve));
    collectGarbage();
  }
  // Nest itself remembers the last one.
  expect(kept()).toBeLessThanOrEqual(1);
});
