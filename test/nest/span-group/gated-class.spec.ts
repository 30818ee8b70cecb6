import { describe, expect, it } from 'vitest';
import { Controller, Get, Injectable } from '@nestjs/common';
import { NoSpanGroup, SpanGroup } from 'nest-lens';
import { express } from '../../support/adapters.js';
import { guardEachTest, lensApp, namesOf } from '../../support/lens-app.js';

describe('what a class decorator above @SpanGroup does later', () => {
  guardEachTest();

  type Method = (this: unknown) => string;

  /** As libraries do that add the handlers of a resource to a controller. */
  const AddHandler =
    (name: string): ClassDecorator =>
    ({ prototype }) => {
      Object.defineProperty(prototype, name, { value: () => name, configurable: true, writable: true });
      Get(name)(prototype as object, name, Object.getOwnPropertyDescriptor(prototype, name)!);
    };

  /** As libraries do that log each call, and keep no metadata. */
  const WrapMethods: ClassDecorator = ({ prototype }) => {
    for (const name of Object.getOwnPropertyNames(prototype)) {
      if (name === 'constructor') continue;
      const method = (prototype as Record<string, Method>)[name]!;
      Object.defineProperty(prototype, name, {
        value(this: unknown): string {
          return method.call(this);
        },
      });
    }
  };

  it('N4: handlers that it adds are in the group, with a base class and without', async () => {
    class Plain {}
    @AddHandler('added')
    @SpanGroup('orders')
    @Controller('alone')
    class AloneController {
      @Get('written')
      written(): string {
        return 'written';
      }
    }
    @AddHandler('added')
    @SpanGroup('orders')
    @Controller('derived')
    class DerivedController extends Plain {}
    @AddHandler('added')
    @NoSpanGroup()
    @Controller('out')
    class OutController extends Plain {}
    const lens = await lensApp(express)
      .groups('orders')
      .controllers(AloneController, DerivedController, OutController)
      .start();
    for (const path of ['/alone/added', '/alone/written', '/derived/added', '/out/added']) {
      expect((await lens.get(path)).status).toBe(200);
    }

    expect(namesOf(await lens.spans())).toEqual([
      'AloneController.added',
      'AloneController.written',
      'DerivedController.added',
    ]);
  });

  it('N4: methods of a provider that it wraps make one span a call', async () => {
    @WrapMethods
    @SpanGroup('orders')
    @Injectable()
    class Service {
      work(): string {
        return 'worked';
      }
    }
    const lens = await lensApp(express).groups('orders').providers(Service).start();

    expect(lens.app.get(Service).work()).toBe('worked');
    expect(namesOf(await lens.spans())).toEqual(['Service.work']);
  });
});

describe('a class that inherits', () => {
  guardEachTest();

  it('N4: gets no methods of its own by @NoSpanGroup, if there is nothing to take out', () => {
    class Base {
      work(): string {
        return 'worked';
      }
    }
    @NoSpanGroup()
    class Derived extends Base {}

    expect(Object.getOwnPropertyNames(Derived.prototype)).toEqual(['constructor']);
  });

  it.each([
    ['no class', 5],
    ['an arrow function', () => undefined],
    ['another class', class Other {}],
  ])('N4, I14: works where the constructor of its base is %s', async (_what, constructor) => {
    @SpanGroup('orders')
    class Base {
      work(): string {
        return 'worked';
      }
    }
    @Injectable()
    class Derived extends Base {
      more(): string {
        return this.work();
      }
    }
    Object.defineProperty(Base.prototype, 'constructor', { value: constructor });
    const lens = await lensApp(express).groups('orders').providers(Derived).start();

    expect(lens.app.get(Derived).more()).toBe('worked');
    expect(namesOf(await lens.spans())).toContain('Derived.work');
  });
});
