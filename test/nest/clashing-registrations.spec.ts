import 'reflect-metadata';
import { beforeEach, describe, expect, it } from 'vitest';
import { type DynamicModule, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { defineSpanGroups, NestLensModule, type NestLensModuleOptions, SpanRegistry } from 'nest-lens';
import { captureWarnings } from '../support/capture-warnings.js';

/** What the start of an application fails with. */
async function failureOf(...imports: DynamicModule[]): Promise<{ code?: string; message: string }> {
  class RootModule {}
  Module({ imports })(RootModule);
  const app = await NestFactory.createApplicationContext(RootModule, {
    logger: false,
    abortOnError: false,
  }).catch((error: Error) => error);
  if (app instanceof Error) return app;
  await app.close();
  throw new Error('it started');
}

beforeEach(() => {
  captureWarnings();
});

describe('a namespace that is registered twice, with different groups', () => {
  it('R4: stops the start, and the error names the difference and both calls of forFeature', async () => {
    const error = await failureOf(
      NestLensModule.forFeature({ namespace: 'stock', groups: ['reserve', 'release'] }),
      NestLensModule.forFeature({ namespace: 'stock', groups: ['reserve', 'recount'] }),
    );
    expect(error.code).toBe('NAMESPACE_REGISTERED');
    expect(error.message).toContain("[group 'recount' is new, group 'release' is missing]");
    const places = error.message.match(
      /NestLensModule\.forFeature at [^ ]*clashing-registrations\.spec\.ts:\d+:\d+/g,
    );
    expect(new Set(places).size).toBe(2);
  });

  it('R4: forRoot and forFeature are named as what they are', async () => {
    const { message } = await failureOf(
      NestLensModule.forRoot({ registrations: [{ namespace: 'stock', groups: ['reserve'] }] }),
      NestLensModule.forFeature({ namespace: 'stock', groups: [] }),
    );
    expect(message).toMatch(/NestLensModule\.forRoot at .*clashing-registrations\.spec\.ts/);
    expect(message).toMatch(/NestLensModule\.forFeature at .*clashing-registrations\.spec\.ts/);
    expect(message).toMatch(/group 'reserve' is (missing|new)/);
  });

  it('N2: equal content is none, also between an import that registers and a module', async () => {
    const stock = defineSpanGroups({ namespace: 'stock', groups: ['reserve'] });
    stock.register();
    class RootModule {}
    Module({ imports: [NestLensModule.forFeature(stock)] })(RootModule);
    const app = await NestFactory.createApplicationContext(RootModule, {
      logger: false,
      abortOnError: false,
    });
    stock.register();
    await app.close();
    expect(SpanRegistry.namespaces()).toEqual(['stock']);
  });
});

describe('registrations of a wrong type', () => {
  it.each<[string, unknown, string]>([
    ['an object', { namespace: 'shop', groups: [] }, 'must be an array of definitions, not an object'],
    ['a string', 'shop', "must be an array of definitions, not the string 'shop'"],
    [
      'a list of strings',
      ['shop'],
      "a definition must be an object with namespace and groups, not the string 'shop'",
    ],
    [
      'a list with a hole',
      [undefined],
      'a definition must be an object with namespace and groups, not undefined',
    ],
  ])('N1: %s makes forRoot throw a TypeError that says what is wanted', (_what, registrations, says) => {
    const call = (): DynamicModule => NestLensModule.forRoot({ registrations } as NestLensModuleOptions);
    expect(call).toThrow(TypeError);
    expect(call).toThrow(`NestLensModule.forRoot: ${says.startsWith('must') ? 'registrations ' : ''}${says}`);
  });

  it('N1: a list makes forFeature throw one as well', () => {
    expect(() => NestLensModule.forFeature([{ namespace: 'shop', groups: [] }] as never)).toThrow(
      'NestLensModule.forFeature: a definition must be an object with namespace and groups, not an array',
    );
  });
});
