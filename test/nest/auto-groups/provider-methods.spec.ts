import { EventEmitter } from 'node:events';
import { describe, expect, it } from '@jest/globals';
import { ConsoleLogger, Injectable, mixin, Module, Scope, SetMetadata, type Type } from '@nestjs/common';
import { ModuleRef } from '@nestjs/core';
import { NoSpanGroup, SpanGroup } from 'nest-lens';
import { express } from '../../support/adapters.js';
import { everythingSaid, guardEachTest, lensApp, type LensApp, namesOf } from '../../support/lens-app.js';

const AUTO = { handlers: 'handlers', enhancers: 'pipeline', providers: 'services' };

describe('the methods that autoGroups takes of a provider', () => {
  guardEachTest();

  const start = (providers: any[], autoGroups: object = AUTO): Promise<LensApp> =>
    lensApp(express)
      .groups('shop')
      .forRoot({ autoGroups })
      .providers(...providers)
      .start();
  const sitesOf = async (lens: LensApp): Promise<string[]> => {
    const { groups } = (await lens.get('/lens/groups?sites=1')).json();
    return groups.find(({ name }: any) => name === 'services').siteList.map(({ name }: any) => name);
  };
  const spansOf = async (lens: LensApp): Promise<string[]> => namesOf(await lens.spans());

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
    const lens = await start([Everything]);
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
    const lens = await start([Odd]);
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
    const lens = await start([Admins, Users, Mixed]);
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

  it('are none of a base class of Node, of Nest, or native', async () => {
    @Injectable()
    class Events extends EventEmitter {
      tell(): boolean {
        return this.emit('told');
      }
    }
    @Injectable()
    class Log extends ConsoleLogger {
      note(): string {
        return 'noted';
      }
    }
    @Injectable()
    class Cache extends Map<string, string> {
      read(): string | undefined {
        return this.get('key');
      }
    }
    const lens = await start([Events, Log, Cache]);
    lens.app.get(Events).tell();
    lens.app.get(Log).note();
    lens.app.get(Cache).read();
    expect(await sitesOf(lens)).toEqual(['Cache.read', 'Events.tell', 'Log.note']);
    expect(await spansOf(lens)).toEqual(['Cache.read', 'Events.tell', 'Log.note']);
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
    const lens = await start([
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

  it('are not those of a class that is out or in a group, and of its subclasses', async () => {
    @Injectable()
    class Parent {
      work(): string {
        return 'worked';
      }
    }
    @NoSpanGroup()
    @Injectable()
    class Out extends Parent {
      own(): string {
        return 'own';
      }
    }
    @Injectable()
    class Below extends Out {}
    @SpanGroup('shop')
    @Injectable()
    class InShop {
      shop(): string {
        return 'shop';
      }
    }
    @Injectable()
    class Mostly {
      @NoSpanGroup()
      hot(): string {
        return 'hot';
      }

      work(): string {
        return this.hot();
      }
    }
    const lens = await start([Parent, Out, Below, InShop, Mostly]);
    const { app } = lens;
    expect([app.get(Out).work(), app.get(Out).own(), app.get(Below).work()]).toEqual([
      'worked',
      'own',
      'worked',
    ]);
    for (const call of [app.get(Parent).work(), app.get(InShop).shop(), app.get(Mostly).work()]) {
      expect(typeof call).toBe('string');
    }
    const spans = await lens.spans();
    expect(namesOf(spans)).toEqual(['InShop.shop', 'Mostly.work', 'Parent.work']);
    expect(spans.find(({ name }) => name === 'InShop.shop')!.attributes['nestlens.group']).toBe('shop');
    await lens.close();
    expect(Object.getOwnPropertyNames(Out.prototype)).toEqual(['constructor', 'own']);
  });

  it('exclude takes out a class, a module, and what a base class declares, by class or name', async () => {
    class Base {
      shared(): string {
        return 'shared';
      }
    }
    @Injectable()
    class Hot {
      run(): string {
        return 'hot';
      }
    }
    @Injectable()
    class Cold extends Base {
      run(): string {
        return `cold ${this.shared()}`;
      }
    }
    @Injectable()
    class Inner {
      run(): string {
        return 'inner';
      }
    }
    @Module({ providers: [Inner], exports: [Inner] })
    class InnerModule {}
    for (const exclude of [
      [Hot, InnerModule, Base],
      ['Hot', 'InnerModule', 'Base'],
      new Set([Hot, 'InnerModule', Base]),
    ]) {
      const lens = await lensApp(express)
        .forRoot({ autoGroups: { ...AUTO, exclude } })
        .imports(InnerModule)
        .providers(Hot, Cold)
        .start();
      for (const Class of [Hot, Cold, Inner] as Type<{ run(): string }>[]) lens.app.get(Class).run();
      expect(await spansOf(lens)).toEqual(['Cold.run']);
      await lens.close();
    }
    expect(everythingSaid()).toEqual([]);
  });

  describe('of packages', () => {
    it('are taken if include names them', async () => {
      @Injectable()
      class Own {
        constructor(readonly logger: ConsoleLogger) {}

        work(): string {
          return 'worked';
        }
      }
      class Quiet extends ConsoleLogger {
        override log(): void {
          // Says nothing.
        }
      }
      for (const [include, names] of [
        [[], ['Own.work']],
        [[ConsoleLogger], ['ConsoleLogger.isLevelEnabled', 'Own.work']],
        [['ConsoleLogger'], ['ConsoleLogger.isLevelEnabled', 'Own.work']],
      ] as const) {
        const lens = await start([Own, ConsoleLogger, Quiet], { ...AUTO, include: [...include] });
        lens.app.get(Own).work();
        lens.app.get(ConsoleLogger).isLevelEnabled('log');
        expect((await spansOf(lens)).filter((name) => !name.endsWith('.getDefaultLogLevels'))).toEqual(names);
        expect(await sitesOf(lens)).not.toContain('ModuleRef.get');
        expect(lens.app.get(ModuleRef)).toBeDefined();
        await lens.close();
      }
      expect(everythingSaid()).toEqual([]);
    });
  });
});
