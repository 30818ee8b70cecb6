import 'reflect-metadata';
import { it, expect } from '@jest/globals';
import { NestFactory } from '@nestjs/core';
import { Controller, Get, Module, Injectable } from '@nestjs/common';
import { NestLensModule, SpanGroup, enabledSpanGroups } from 'nest-lens';
@Injectable() class S { x() { return 1; } }
@SpanGroup('orders') @Controller('o') class C { constructor(private readonly s: S) {} @Get() a() { return 'x'; } }
@Module({ imports: [NestLensModule.forRoot({ registrations: [{ namespace: 'shop', groups: ['orders'] }], config: { enabled: true, spanGroups: 'all', exporter: 'none', metricsEnabled: false } })], controllers: [C], providers: [{provide: S, useClass: S}] })
class M {}
it.each([['get', {}], ['bind-all', { get(t: any, k: any) { const v = Reflect.get(t, k, t); return typeof v === 'function' ? v.bind(t) : v; } }]])('proxy %s', async (_n, h) => {
  const app = await NestFactory.create(M, { logger: ['error'], abortOnError: false, instrument: { instanceDecorator: (i: any) => (typeof i === 'object' && i !== null ? new Proxy(i, h as any) : i) } } as any);
  await app.listen(0);
  const url = await app.getUrl();
  console.log(await (await fetch(url + '/o')).text(), await (await fetch(url + '/lens/groups?sites=1')).text(), [...enabledSpanGroups()]);
  await app.close();
});
it('without nestlens', async () => {
  @Module({ controllers: [C], providers: [S] }) class M2 {}
  const app = await NestFactory.create(M2, { logger: ['error'], abortOnError: false, instrument: { instanceDecorator: (i: any) => (typeof i === 'object' && i !== null ? new Proxy(i, {}) : i) } } as any);
  await app.listen(0);
  await app.close();
});
