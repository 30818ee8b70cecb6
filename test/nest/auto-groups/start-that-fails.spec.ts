import { setImmediate } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, it, vi } from 'vitest';
import { Injectable, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { NestLensModule } from 'nest-lens';
import { guardEachTest, namesOf } from '../../support/lens-app.js';
import { AUTO, startWith } from './providers-in-groups.js';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

/** Starts an application that fails. The error isn't kept, because it would keep the application by its stack. */
async function failToStart(AppModule: object): Promise<void> {
  let hasStarted = true;
  try {
    await NestFactory.createApplicationContext(AppModule, { logger: false, abortOnError: false });
  } catch {
    hasStarted = false;
  }
  expect(hasStarted).toBe(false);
}

describe('an application whose start fails', () => {
  guardEachTest();

  it('gives its gates back when it is out of memory, and stays in none', async () => {
    @Injectable()
    class Prices {
      read(): number {
        return 1;
      }
    }
    const { read } = Prices.prototype;
    const big: WeakRef<object>[] = [];
    const fail = async (): Promise<void> => {
      @Module({
        imports: [NestLensModule.forRoot({ autoGroups: AUTO })],
        providers: [
          Prices,
          {
            provide: 'broken',
            inject: [Prices],
            useFactory: async () => {
              await setImmediate();
              throw new Error('no database');
            },
          },
          {
            provide: 'big',
            useFactory: () => {
              const value = { rows: new Array(1_000) };
              big.push(new WeakRef(value));
              return value;
            },
          },
        ],
      })
      class AppModule {}
      await failToStart(AppModule);
    };
    for (let start = 0; start < 10; start++) await fail();
    expect(Prices.prototype.read).not.toBe(read);

    await vi.waitFor(async () => {
      collectGarbage();
      await setImmediate();
      // The last ones may still be on the stack of the engine.
      expect(big.filter((value) => value.deref() !== undefined).length).toBeLessThan(3);
    });
    const lens = await startWith([Prices]);
    expect(lens.app.get(Prices).read()).toBe(1);
    expect(namesOf(await lens.spans())).toEqual(['Prices.read']);
    await lens.close();
    await vi.waitFor(async () => {
      collectGarbage();
      await setImmediate();
      expect(Prices.prototype.read).toBe(read);
    });
  });

  it('gives them back beside an application that runs, too', async () => {
    @Injectable()
    class Prices {
      read(): number {
        return 1;
      }
    }
    @Injectable()
    class Stock {
      read(): number {
        return 2;
      }
    }
    @Injectable()
    class Breaks {
      onModuleInit(): void {
        throw new Error('no database');
      }
    }
    const { read } = Stock.prototype;
    const live = await startWith([Prices]);
    @Module({ imports: [NestLensModule.forRoot({ autoGroups: AUTO })], providers: [Stock, Breaks] })
    class AppModule {}
    await failToStart(AppModule);
    expect(Stock.prototype.read).not.toBe(read);
    await vi.waitFor(async () => {
      expect(live.app.get(Prices).read()).toBe(1);
      await setImmediate();
      collectGarbage();
      await setImmediate();
      expect(Stock.prototype.read).toBe(read);
    });
  });
});
