import { expect, it } from 'vitest';
import { Controller, Get, Injectable, Module, UseInterceptors } from '@nestjs/common';
import type { NestModule, OnModuleInit, Type } from '@nestjs/common';
import { NoSpanGroup, SpanGroup, SpanGroupInterceptor } from 'nest-lens';
import { onEachPlatform } from '../../support/adapters.js';
import { everythingSaid, lensApp, type LensApp, namesOf } from '../../support/lens-app.js';

onEachPlatform('@SpanGroup on a module class', (platform) => {
  @Injectable()
  class Service {
    work(): string {
      return 'worked';
    }
  }

  @Controller('plain')
  class PlainController {
    constructor(private readonly service: Service) {}

    @Get()
    list(): string {
      return this.service.work();
    }

    @Get('own')
    @SpanGroup('method')
    own(): string {
      return 'own';
    }

    @Get('none')
    @NoSpanGroup()
    none(): string {
      return 'none';
    }

    format(): string {
      return 'format';
    }
  }

  @SpanGroup('class')
  @Controller('marked')
  class MarkedController {
    @Get()
    list(): string {
      return 'marked';
    }
  }

  @NoSpanGroup()
  @Controller('out')
  class OutController {
    @Get()
    list(): string {
      return 'out';
    }
  }

  const PATHS = ['/plain', '/plain/own', '/plain/none', '/marked', '/out'];
  const parts = { controllers: [PlainController, MarkedController, OutController], providers: [Service] };

  const start = (module: Type<unknown>, autoGroups?: object): Promise<LensApp> =>
    lensApp(platform)
      .groups('module', 'class', 'method')
      .forRoot(autoGroups === undefined ? {} : { autoGroups })
      .imports(module)
      .start();

  async function spansOf(lens: LensApp, paths = PATHS): Promise<string[]> {
    for (const path of paths) expect((await lens.get(path)).status).toBe(200);
    const spans = await lens.spans();
    const named = spans.map((span) => `${span.name} ${String(span.attributes['nestlens.group'])}`);
    await lens.close();
    return named.sort();
  }

  it('puts each handler of its controllers into the group, where neither method nor class has one', async () => {
    @SpanGroup('module')
    @Module(parts)
    class Above {}
    @Module(parts)
    @SpanGroup('module')
    class Below {}

    for (const module of [Above, Below]) {
      expect(await spansOf(await start(module))).toEqual([
        'MarkedController.list class',
        'PlainController.list module',
        'PlainController.own method',
      ]);
    }
    expect(everythingSaid()).toEqual([]);
  });

  it('wins over autoGroups; other modules stay for those', async () => {
    @SpanGroup('module')
    @Module(parts)
    class Grouped {}
    @Controller('other')
    class OtherController {
      @Get()
      list(): string {
        return 'other';
      }
    }
    @Module({ imports: [Grouped], controllers: [OtherController] })
    class Root {}

    const lens = await start(Root, { handlers: 'handlers', providers: 'services' });
    expect(await spansOf(lens, ['/plain', '/other'])).toEqual([
      'OtherController.list handlers',
      'PlainController.list module',
      'Service.work services',
    ]);
  });

  it('takes the handlers with the options that it gives, and the interceptor widens them', async () => {
    @Controller('wide')
    @UseInterceptors(SpanGroupInterceptor)
    class WideController {
      @Get(':id')
      read(): string {
        return 'wide';
      }
    }
    @SpanGroup('module', { attributes: () => ({ team: 'shop' }) })
    @Module({ controllers: [WideController] })
    class Grouped {}

    const lens = await start(Grouped, { enhancers: 'pipeline' });
    await lens.get('/wide/1');
    const spans = await lens.spans();
    expect(namesOf(spans)).toEqual(['WideController.read']);
    expect(spans[0]!.attributes).toMatchObject({ team: 'shop', 'nestlens.group': 'module' });
  });

  it('names the spans of the handlers by the name that it gives in place of the class', async () => {
    @SpanGroup('module', { name: 'desk' })
    @Module(parts)
    class Grouped {}

    expect(await spansOf(await start(Grouped), ['/plain'])).toEqual(['desk.list module']);
  });

  it('gives the handlers of each application the options of its own module', async () => {
    @SpanGroup('module', { name: 'first' })
    @Module(parts)
    class First {}
    @SpanGroup('module', { name: 'second' })
    @Module(parts)
    class Second {}
    const first = await start(First);
    const second = await start(Second);
    await second.get('/plain');

    expect(namesOf(await first.spans())).toEqual(['second.list']);
  });

  it("leaves the module's own methods, and its subclass's, alone", async () => {
    const called: string[] = [];
    @Module({})
    @SpanGroup('module')
    class Base implements NestModule, OnModuleInit {
      configure(): void {
        called.push('configure');
      }

      onModuleInit(): void {
        called.push('onModuleInit');
      }

      work(): void {
        called.push('work');
      }
    }
    @Module({ controllers: [PlainController], providers: [Service] })
    class Sub extends Base {}

    const lens = await start(Sub);
    lens.app.get(Sub).work();
    expect(await spansOf(lens, ['/plain'])).toEqual(['PlainController.list module']);
    expect(called).toEqual(['configure', 'onModuleInit', 'work']);
  });

  it('@NoSpanGroup on a module keeps all that it declares out of autoGroups', async () => {
    @NoSpanGroup()
    @Module(parts)
    class Out {}

    const lens = await start(Out, { handlers: 'handlers', providers: 'services' });
    expect(await spansOf(lens)).toEqual(['MarkedController.list class', 'PlainController.own method']);
  });

  it('ends with the application: the next one that has the controller in another module is its own', async () => {
    @SpanGroup('module')
    @Module(parts)
    class Grouped {}
    @Module(parts)
    class Plain {}

    expect(await spansOf(await start(Grouped), ['/plain'])).toEqual(['PlainController.list module']);
    expect(await spansOf(await start(Plain), ['/plain'])).toEqual([]);
    const auto = await start(Plain, { handlers: 'handlers' });
    expect(await spansOf(auto, ['/plain'])).toEqual(['PlainController.list handlers']);
  });

  it('an unregistered group is said, with the nearest name', async () => {
    @SpanGroup('modul')
    @Module({ controllers: [PlainController], providers: [Service] })
    class Misspelt {}

    await start(Misspelt);
    expect(everythingSaid()).toEqual([
      expect.stringMatching(/PlainController\.list names span group 'modul'.*'module'/),
    ]);
  });
});
