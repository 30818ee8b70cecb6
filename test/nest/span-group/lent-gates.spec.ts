import { describe, expect, it, vi } from 'vitest';
import { Injectable, Module, SetMetadata, type Type } from '@nestjs/common';
import { LazyModuleLoader } from '@nestjs/core';
import { NoSpanGroup, SpanGroup } from 'nest-lens';
import { processState } from '../../../src/core/state/process-state.js';
import type { LentGate } from '../../../src/nest/span-group/gated-method.js';
import { express } from '../../support/adapters.js';
import { guardEachTest, lensApp, type LensApp, namesOf } from '../../support/lens-app.js';

interface Worker {
  work(): string;
}

describe('a gate that an application has lent to a method', () => {
  guardEachTest();

  const start = (
    providers: Type<unknown>[],
    autoGroups: object = { providers: 'services' },
  ): Promise<LensApp> =>
    lensApp(express)
      .groups('shop')
      .forRoot({ autoGroups })
      .providers(...providers)
      .start();

  /** The spans of a call in an application; the exporter is that of the one that has started first. */
  async function spansOf(lens: LensApp, Class: Type<Worker>, first = lens): Promise<string[]> {
    first.exporter.spans.length = 0;
    expect(lens.app.get(Class).work()).toBe('worked');
    return (await first.spans()).map(
      ({ name, attributes }) => `${name} ${String(attributes['nestlens.group'])}`,
    );
  }

  /** Classes of a test's own, one above the other. */
  function classes(): [Type<Worker>, Type<Worker>] {
    @Injectable()
    class Base {
      work(): string {
        return 'worked';
      }
    }
    @Injectable()
    class Derived extends Base {}
    return [Base, Derived];
  }

  const workOf = ({ prototype }: Type<Worker>): PropertyDescriptor =>
    Object.getOwnPropertyDescriptor(prototype, 'work')!;

  it('is the one of the application before, if that has asked for the same', async () => {
    const [Base] = classes();
    const first = await start([Base]);
    const gate = workOf(Base).value as unknown;
    const second = await start([Base]);

    expect(workOf(Base).value).toBe(gate);
    expect(await spansOf(second, Base, first)).toEqual(['Base.work services']);
  });

  it('is its own, if the application before has asked for another group', async () => {
    const [Base] = classes();
    const first = await start([Base]);
    const second = await start([Base], { providers: 'others' });

    expect(await spansOf(second, Base, first)).toEqual(['Base.work others']);
  });

  it('is a property like the one that it replaces, and like the inherited one', async () => {
    const [Base, Derived] = classes();
    const { value: method, ...written } = workOf(Base);
    const lens = await start([Derived, Base]);
    for (const Class of [Base, Derived]) {
      const { value, ...lent } = workOf(Class);
      expect(value).not.toBe(method);
      expect(lent).toEqual(written);
    }
    await lens.close();
    expect(workOf(Base)).toEqual({ ...written, value: method });
  });

  it('stands in for a method that is read only, and that stays so', async () => {
    const [Base] = classes();
    Object.defineProperty(Base.prototype, 'work', { writable: false });
    const written = workOf(Base);
    const lens = await start([Base]);

    expect(await spansOf(lens, Base)).toEqual(['Base.work services']);
    expect(workOf(Base).writable).toBe(false);
    await lens.close();
    expect(workOf(Base)).toEqual(written);
  });

  it.each([
    ['keeps metadata', true],
    ['drops metadata', false],
  ])(
    'is below a wrapper that %s, and that of another application above it; each call has one span',
    async (_title, isKept) => {
      const [Base] = classes();
      SetMetadata('roles', ['admin'])(Base.prototype, 'work', workOf(Base));
      const first = await start([Base]);
      const gate = workOf(Base).value as () => string;
      const above = function (this: unknown): string {
        return gate.call(this);
      };
      for (const key of isKept ? Reflect.getOwnMetadataKeys(gate) : []) {
        Reflect.defineMetadata(key, Reflect.getOwnMetadata(key, gate), above);
      }
      Base.prototype.work = above;
      const second = await start([Base], { providers: 'others' });

      expect(await spansOf(first, Base)).toEqual(['Base.work services']);
      expect(await spansOf(second, Base, first)).toEqual(['Base.work others']);
      for (const [lens, group] of [
        [first, 'services'],
        [second, 'others'],
      ] as const) {
        const { groups } = (await lens.get('/lens/groups')).json();
        expect(groups.find(({ name }: { name: string }) => name === group).sites).toBe(1);
      }
      await second.close();
      expect(workOf(Base).value).toBe(above);
      expect(await spansOf(first, Base)).toEqual(['Base.work services']);
    },
  );

  it('does not keep a later application from gating the method that has been restored since', async () => {
    const [Base] = classes();
    const spy = vi.spyOn(Base.prototype, 'work');
    const first = await start([Base]);
    spy.mockRestore();
    const second = await start([Base]);

    expect(await spansOf(second, Base, first)).toEqual(['Base.work services']);
  });

  it('gives way to a decorator that runs later, on a class of a module that is loaded lazily', async () => {
    const [Base] = classes();
    const lens = await start([Base]);
    @NoSpanGroup()
    @Injectable()
    class Left extends Base {}
    @SpanGroup('shop')
    @Injectable()
    class Taken extends Base {
      override work(): string {
        return super.work();
      }
    }
    @Module({ providers: [Left, Taken] })
    class LazyModule {}
    const module = await lens.app.get(LazyModuleLoader).load(() => LazyModule);
    lens.exporter.spans.length = 0;
    for (const Class of [Left, Taken]) expect(module.get(Class).work()).toBe('worked');
    expect(namesOf(await lens.spans())).toEqual(['Taken.work']);
  });

  it.each([
    ['@SpanGroup', SpanGroup('shop'), ['Base.work shop']],
    ['@NoSpanGroup', NoSpanGroup(), []],
  ])('gives way to %s on its method', async (_title, decorator, expected) => {
    const [Base] = classes();
    const lens = await start([Base]);
    const descriptor = workOf(Base);
    Object.defineProperty(
      Base.prototype,
      'work',
      decorator(Base.prototype, 'work', descriptor) ?? descriptor,
    );

    expect(await spansOf(lens, Base)).toEqual(expected);
  });

  it('is gone when its application has closed, though something stands over it: the next one gates that', async () => {
    const [Base] = classes();
    const first = await start([Base]);
    const gate = workOf(Base).value as () => string;
    Base.prototype.work = function (): string {
      return gate.call(this);
    };
    await first.close();
    const second = await start([Base]);

    expect(await spansOf(second, Base)).toEqual(['Base.work services']);
  });

  it('that a spy puts back after the close is no part of the next one, however often that happens', async () => {
    const [Base, Derived] = classes();
    SetMetadata('roles', ['admin'])(Base.prototype, 'work', workOf(Base));
    const written = workOf(Base);
    for (let round = 1; round <= 20; round++) {
      const lens = await start([Derived, Base], { providers: `services_${round}` });
      const gates = [Base, Derived].map((Class) => workOf(Class).value as object);
      expect(gates.map((gate) => Reflect.getOwnMetadata('roles', gate) as unknown)).toEqual([
        ['admin'],
        ['admin'],
      ]);
      const spies = [Base, Derived].map((Class) => vi.spyOn(Class.prototype, 'work'));
      expect(await spansOf(lens, Base)).toEqual([`Base.work services_${round}`]);
      expect(await spansOf(lens, Derived)).toEqual([`Derived.work services_${round}`]);
      await lens.close();
      for (const spy of spies) spy.mockRestore();
      expect([Base, Derived].map((Class) => workOf(Class).value as unknown)).toEqual(gates);
    }
    await (await start([Derived, Base])).close();
    expect(workOf(Base)).toEqual(written);
    expect(Object.hasOwn(Derived.prototype, 'work')).toBe(false);
  });

  it('that a spy puts back after two applications have closed, the first one first, is no part of the next one', async () => {
    const [Base] = classes();
    const written = workOf(Base);
    const first = await start([Base]);
    const second = await start([Base], { providers: 'others' });
    const spy = vi.spyOn(Base.prototype, 'work');
    expect(await spansOf(second, Base, first)).toEqual(['Base.work others']);
    await first.close();
    await second.close();
    spy.mockRestore();
    expect(new Base().work()).toBe('worked');
    const third = await start([Base], { providers: 'thirds' });
    expect(await spansOf(third, Base)).toEqual(['Base.work thirds']);
    const { groups } = (await third.get('/lens/groups')).json();
    expect(groups.find(({ name }: { name: string }) => name === 'thirds').sites).toBe(1);
    await third.close();
    expect(workOf(Base)).toEqual(written);
  });

  it('is remembered once at most for a method that somebody has restored', async () => {
    const [Base] = classes();
    for (let round = 1; round <= 3; round++) {
      const spy = vi.spyOn(Base.prototype, 'work');
      const lens = await start([Base]);
      spy.mockRestore();
      await lens.close();
    }
    const last = processState.lentGates.get(Base.prototype) as LentGate | undefined;
    expect(last?.loan.before).toBeUndefined();
  });

  it('has the metadata of the method, and nothing else', async () => {
    const [Base] = classes();
    SetMetadata('roles', ['admin'])(Base.prototype, 'work', workOf(Base));
    const metadata = (): unknown[] =>
      Reflect.getOwnMetadataKeys(workOf(Base).value as object).map((key: unknown) => [
        key,
        Reflect.getOwnMetadata(key, workOf(Base).value as object),
      ]);
    const written = metadata();
    const lens = await start([Base]);
    expect(metadata()).toEqual(written);
    Reflect.defineMetadata('added', true, workOf(Base).value as object);
    await lens.close();
    expect(metadata()).toEqual([...written, ['added', true]]);
  });

  it('leaves a method alone that the class has of a decorated one', async () => {
    @SpanGroup('shop')
    class Decorated {
      work(): string {
        return 'worked';
      }
    }
    @Injectable()
    class Mixed {}
    Object.defineProperties(Mixed.prototype, { work: workOf(Decorated) });
    const lens = await start([Mixed]);

    expect(workOf(Mixed as Type<Worker>)).toEqual(workOf(Decorated));
    expect(await spansOf(lens, Mixed as Type<Worker>)).toEqual(['Mixed.work shop']);
  });

  it('is not seen by a class that is left alone, and what somebody has put there stays', async () => {
    const [Base, Derived] = classes();
    const lens = await start([Base, Derived], { providers: 'services', exclude: [Derived] });
    expect(await spansOf(lens, Derived)).toEqual([]);
    const spy = vi.spyOn(Derived.prototype as Worker, 'work').mockReturnValue('mocked');
    await lens.close();

    expect(new Derived().work()).toBe('mocked');
    expect(workOf(Derived).value).toBe(spy);
  });

  it('is taken away though a spy put it back while the next application ran', async () => {
    const [Base] = classes();
    const { value: method } = workOf(Base);
    for (let round = 0; round < 3; round++) {
      const first = await start([Base]);
      const spy = vi.spyOn(Base.prototype, 'work');
      await first.close();
      const second = await start([Base]);
      spy.mockRestore();
      await second.close();
      expect(workOf(Base).value).toBe(method);
    }
  });
});
