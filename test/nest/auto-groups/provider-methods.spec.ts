import { describe, expect, it } from 'vitest';
import { Injectable, mixin, Scope, SetMetadata } from '@nestjs/common';
import { everythingSaid, guardEachTest } from '../../support/lens-app.js';
import { sitesOf, spansOf, startWith } from './providers-in-groups.js';

describe('the methods that autoGroups takes of a provider', () => {
  guardEachTest();

  it('are its own: no hooks, accessors, symbols, fields, static and private methods', async () => {
    const symbol = Symbol('symbol');
    const seen: string[] = [];
    @Injectable()
    class Everything {
      field = (): string => 'field';

      static shared(): string {
        return 'static';
      }

      get accessor(): () => string {
        seen.push('accessor');
        return () => 'accessor';
      }

      set accessor(_: () => string) {
        seen.push('set');
      }

      [symbol](): string {
        return 'symbol';
      }

      #secret(): string {
        return 'private';
      }

      onModuleInit(): void {
        seen.push('onModuleInit');
      }

      onApplicationBootstrap(): void {
        seen.push('onApplicationBootstrap');
      }

      beforeApplicationShutdown(): void {
        seen.push('beforeApplicationShutdown');
      }

      onModuleDestroy(): void {
        seen.push('onModuleDestroy');
      }

      onApplicationShutdown(): void {
        seen.push('onApplicationShutdown');
      }

      work(): string[] {
        return [this.field(), this[symbol](), this.#secret(), Everything.shared()];
      }
    }
    const lens = await startWith([Everything]);
    expect(seen).toEqual(['onModuleInit', 'onApplicationBootstrap']);
    expect(lens.app.get(Everything).work()).toEqual(['field', 'symbol', 'private', 'static']);
    expect(await spansOf(lens)).toEqual(['Everything.work']);
    expect(await sitesOf(lens)).toEqual(['Everything.work']);
    await lens.close();
    expect(seen.slice(2).sort()).toEqual([
      'beforeApplicationShutdown',
      'onApplicationShutdown',
      'onModuleDestroy',
    ]);
    expect(everythingSaid()).toEqual([]);
  });

  it('keep name, length, metadata and own properties, and what they give and throw', async () => {
    const result = { some: 'object' };
    class Odd {
      @SetMetadata('kept', 7)
      three(_a: number, _b: string, ..._rest: unknown[]): object {
        return result;
      }

      *letters(): Generator<string> {
        yield* 'ab';
      }

      async fails(): Promise<never> {
        throw result;
      }

      throws(): never {
        throw result;
      }
    }
    Object.assign(Odd.prototype.three, { marked: true });
    const before = Object.getOwnPropertyDescriptors(Odd.prototype);
    const lens = await startWith([Odd]);
    const { three } = Odd.prototype;
    expect(three).not.toBe(before.three.value);
    expect([three.name, three.length, (three as any).marked]).toEqual(['three', 2, true]);
    expect(Reflect.getMetadata('kept', three)).toBe(7);
    expect(Object.getOwnPropertyDescriptor(Odd.prototype, 'three')).toMatchObject({ enumerable: false });
    const odd = lens.app.get(Odd);
    expect(odd.three(1, 'b')).toBe(result);
    expect([...odd.letters()]).toEqual(['a', 'b']);
    await expect(odd.fails()).rejects.toBe(result);
    let thrown: unknown;
    try {
      odd.throws();
    } catch (error) {
      thrown = error;
    }
    expect(thrown).toBe(result);
    await lens.close();
    expect(Object.getOwnPropertyDescriptors(Odd.prototype)).toEqual(before);
  });

  it('are inherited ones, too: a span has the name of the class that is called, and there is one of them', async () => {
    abstract class Base {
      find(): string {
        return 'found';
      }

      save(): string {
        return 'saved';
      }
    }
    @Injectable()
    class Users extends Base {
      override save(): string {
        return `${super.save()} users`;
      }
    }
    @Injectable()
    class Admins extends Users {}
    @Injectable()
    class Mixed extends mixin(
      class extends Users {
        mix(): string {
          return this.find();
        }
      },
    ) {}
    const before = Object.getOwnPropertyNames(Admins.prototype);
    const lens = await startWith([Admins, Users, Mixed]);
    expect([lens.app.get(Users).save(), lens.app.get(Users).find()]).toEqual(['saved users', 'found']);
    expect([lens.app.get(Admins).save(), lens.app.get(Admins).find()]).toEqual(['saved users', 'found']);
    expect(lens.app.get(Mixed).mix()).toBe('found');
    expect(await spansOf(lens)).toEqual([
      'Admins.find',
      'Admins.save',
      'Mixed.find',
      'Mixed.mix',
      'Users.find',
      'Users.save',
    ]);
    await lens.close();
    expect(Object.getOwnPropertyNames(Admins.prototype)).toEqual(before);
    expect(Object.hasOwn(Users.prototype, 'find')).toBe(false);
  });

  it('are those of each scope, of useClass and of proxies; what factories and values give is left alone', async () => {
    class Work {
      work(): string {
        return 'worked';
      }
    }
    @Injectable({ scope: Scope.REQUEST })
    class PerRequest extends Work {}
    @Injectable({ scope: Scope.TRANSIENT })
    class Transient extends Work {}
    class Used extends Work {}
    class Made extends Work {}
    class Given extends Work {}
    class Proxied extends Work {
      constructor() {
        super();
        return new Proxy(this, {});
      }
    }
    class Locked {
      locked(): string {
        return 'locked';
      }
    }
    class Fixed {
      fixed(): string {
        return 'fixed';
      }
    }
    Object.freeze(Locked.prototype);
    Object.defineProperty(Fixed.prototype, 'fixed', { configurable: false });
    const lens = await startWith([
      PerRequest,
      Transient,
      Proxied,
      Locked,
      Fixed,
      { provide: 'used', useClass: Used },
      { provide: 'made', useFactory: () => new Made() },
      { provide: 'given', useValue: new Given() },
      { provide: 'alias', useExisting: 'used' },
    ]);
    const { app } = lens;
    for (const Class of [PerRequest, Transient]) (await app.resolve<Work>(Class)).work();
    for (const token of ['used', 'made', 'given', 'alias', Proxied]) app.get<Work>(token).work();
    expect([app.get(Locked).locked(), app.get(Fixed).fixed()]).toEqual(['locked', 'fixed']);
    expect(await spansOf(lens)).toEqual([
      'PerRequest.work',
      'Proxied.work',
      'Transient.work',
      'Used.work',
      'Used.work',
    ]);
    expect(everythingSaid()).toEqual([]);
  });

  it('are those of classes that are written in unusual ways, which go on working', async () => {
    function Old(this: { x: number }): void {
      this.x = 1;
    }
    Old.prototype.read = function read(this: { x: number }): number {
      return this.x;
    };
    Old.prototype.Inner = function Inner(this: { y: number }): void {
      this.y = 2;
    };
    class OfNull {
      run(): string {
        return 'null';
      }
    }
    Object.setPrototypeOf(OfNull.prototype, null);
    class Base {
      run(): string {
        return 'base';
      }
    }
    class NotExtensible extends Base {}
    Object.preventExtensions(NotExtensible.prototype);
    class BehindProxy {
      run(): string {
        return 'proxy';
      }
    }
    Object.setPrototypeOf(BehindProxy.prototype, new Proxy({}, {}));
    // It has no prototype, but Nest makes instances of it.
    class Unbound {
      run(): string {
        return 'bound';
      }
    }
    const Bound = Unbound.bind(undefined);
    const lens = await startWith([
      Old,
      OfNull,
      Base,
      NotExtensible,
      BehindProxy,
      { provide: 'bound', useClass: Bound },
    ]);
    const { app } = lens;
    const old = app.get<any>(Old as any);
    expect([old.read(), new old.Inner().y]).toEqual([1, 2]);
    const others = [OfNull, NotExtensible, BehindProxy, 'bound'];
    expect(others.map((token) => app.get<Base>(token).run())).toEqual(['null', 'base', 'proxy', 'bound']);
    expect(await spansOf(lens)).toEqual(
      expect.arrayContaining(['NotExtensible.run', 'OfNull.run', 'Old.read']),
    );
    await lens.close();
    expect(Object.keys(Old.prototype)).toEqual(['read', 'Inner']);
  });
});
