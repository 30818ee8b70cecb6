import { EventEmitter } from 'node:events';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ConsoleLogger, Injectable, Module, type Type } from '@nestjs/common';
import { ModuleRef } from '@nestjs/core';
import { NoSpanGroup, SpanGroup } from 'nest-lens';
import { express } from '../../support/adapters.js';
import { everythingSaid, guardEachTest, lensApp, namesOf, theSpan } from '../../support/lens-app.js';
import { AUTO, sitesOf, spansOf, startWith } from './providers-in-groups.js';

describe('the providers that autoGroups leaves alone', () => {
  guardEachTest();

  it('are base classes of Node and of Nest, and native ones', async () => {
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
    const lens = await startWith([Events, Log, Cache]);
    lens.app.get(Events).tell();
    lens.app.get(Log).note();
    lens.app.get(Cache).read();
    expect(await sitesOf(lens)).toEqual(['Cache.read', 'Events.tell', 'Log.note']);
    expect(await spansOf(lens)).toEqual(['Cache.read', 'Events.tell', 'Log.note']);
  });

  it('are classes that are out or in a group, and their subclasses', async () => {
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
    // In the old way: only the prototypes know each other.
    const Old = function Old() {} as unknown as Type<Out>;
    Object.setPrototypeOf(Old.prototype, Out.prototype);
    (Old.prototype as unknown as Record<string, unknown>).old = () => 'old';
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
    const lens = await startWith([Parent, Out, Below, InShop, Old, Mostly]);
    const { app } = lens;
    expect([app.get(Out).work(), app.get(Out).own(), app.get(Below).work()]).toEqual([
      'worked',
      'own',
      'worked',
    ]);
    for (const call of [
      app.get(Parent).work(),
      app.get(InShop).shop(),
      app.get(Below).own(),
      app.get<any>(Old).old(),
      app.get(Mostly).work(),
    ]) {
      expect(typeof call).toBe('string');
    }
    const spans = await lens.spans();
    expect(namesOf(spans)).toEqual(['InShop.shop', 'Mostly.work', 'Parent.work']);
    expect(theSpan(spans, 'InShop.shop').attributes['nestlens.group']).toBe('shop');
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

  describe('are those of packages', () => {
    it('unless include names them', async () => {
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
        const lens = await startWith([Own, ConsoleLogger, Quiet], { ...AUTO, include: [...include] });
        lens.app.get(Own).work();
        lens.app.get(ConsoleLogger).isLevelEnabled('log');
        expect((await spansOf(lens)).filter((name) => !name.endsWith('.getDefaultLogLevels'))).toEqual(names);
        expect(await sitesOf(lens)).not.toContain('ModuleRef.get');
        expect(lens.app.get(ModuleRef)).toBeDefined();
        await lens.close();
      }
      expect(everythingSaid()).toEqual([]);
    });

    it('are also the defaults of CommonJS files', async () => {
      const folder = await mkdtemp(join(tmpdir(), 'nest-lens-'));
      try {
        const file = join(folder, 'node_modules', 'beta', 'index.cjs');
        await mkdir(dirname(file), { recursive: true });
        await writeFile(
          file,
          `class Beta { work() { return 'worked'; } }
          Object.defineProperty(exports, 'lazy', { enumerable: true, get() { throw new Error('not to be read'); } });
          exports.default = Beta;`,
        );
        const { default: Beta } = createRequire(import.meta.url)(file) as { default: Type<any> };
        const lens = await startWith([Beta]);
        expect(lens.app.get(Beta).work()).toBe('worked');
        expect(await spansOf(lens)).toEqual([]);
      } finally {
        await rm(folder, { recursive: true, force: true });
      }
    });
  });
});
