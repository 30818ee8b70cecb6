import { describe, expect, it } from 'vitest';
import { Injectable, Module, Scope, type Provider } from '@nestjs/common';
import { LazyModuleLoader } from '@nestjs/core';
import { express } from '../../support/adapters.js';
import { guardEachTest, lensApp, type LensApp } from '../../support/lens-app.js';

describe('calls while an application has lent a gate, and another application runs without', () => {
  guardEachTest();

  interface Worker {
    work(): string;
  }

  interface Running {
    readonly Service: new () => Worker;
    readonly withGate: LensApp;
    readonly without: LensApp;
    /** How many spans that call makes. */
    spansOf(call: () => string): Promise<number>;
  }

  /** @param others the providers of the other application, where they aren't the class */
  async function start(
    Service: Running['Service'],
    others: (Service: Running['Service']) => Provider[] = () => [Service],
  ): Promise<Running> {
    const withGate = await lensApp(express)
      .groups('shop')
      .forRoot({ autoGroups: { providers: 'services' } })
      .providers(Service)
      .start();
    const without = await lensApp(express)
      .groups('shop')
      .providers(...others(Service))
      .start();
    return {
      Service,
      withGate,
      without,
      async spansOf(call) {
        withGate.exporter.spans.length = 0;
        expect(call()).toBe('worked');
        return (await withGate.spans()).length;
      },
    };
  }

  function plainClass(): Running['Service'] {
    @Injectable()
    class Service {
      work(): string {
        return 'worked';
      }
    }
    return Service;
  }

  it('make spans on objects of the one, and not on those of the other', async () => {
    const { Service, withGate, without, spansOf } = await start(plainClass());

    expect(await spansOf(() => withGate.app.get(Service).work())).toBe(1);
    expect(await spansOf(() => without.app.get(Service).work())).toBe(0);
    await without.close();
    expect(await spansOf(() => withGate.app.get(Service).work())).toBe(1);
  });

  it('make spans on what is of neither: an object made by hand, and none at all', async () => {
    const { Service, spansOf } = await start(plainClass());
    const { work } = Service.prototype as Worker;

    expect(await spansOf(() => new Service().work())).toBe(1);
    for (const receiver of [undefined, null, 'text', work]) {
      expect(await spansOf(() => work.call(receiver as never))).toBe(1);
    }
  });

  it('make spans on what the other has not made: a value', async () => {
    const { without, spansOf } = await start(plainClass(), (Service) => [
      { provide: 'value', useValue: new Service() },
    ]);

    expect(await spansOf(() => without.app.get<Worker>('value').work())).toBe(1);
  });

  it('make spans on what is of both', async () => {
    @Injectable()
    class Only {
      static instance: Only | undefined;

      constructor() {
        if (Only.instance !== undefined) return Only.instance;
        Only.instance = this;
      }

      work(): string {
        return 'worked';
      }
    }
    const { without, withGate, spansOf } = await start(Only);

    expect(without.app.get(Only)).toBe(withGate.app.get(Only));
    expect(await spansOf(() => without.app.get(Only).work())).toBe(1);
  });

  it('make spans on instances for one request', async () => {
    @Injectable({ scope: Scope.REQUEST })
    class Scoped {
      work(): string {
        return 'worked';
      }
    }
    const { withGate, spansOf } = await start(Scoped);
    const scoped = await withGate.app.resolve(Scoped);

    expect(await spansOf(() => scoped.work())).toBe(1);
  });

  it('make none on what the other has loaded later, once another one has started', async () => {
    const { Service, without, spansOf } = await start(plainClass());
    expect(await spansOf(() => without.app.get(Service).work())).toBe(0);
    @Module({ providers: [Service] })
    class LateModule {}
    const late = await without.app.get(LazyModuleLoader).load(() => LateModule);
    await lensApp(express).groups('shop').start();

    expect(await spansOf(() => late.get(Service).work())).toBe(0);
  });
});
