import { describe, expect, it } from 'vitest';
import { Controller, Get, Injectable } from '@nestjs/common';
import { NestLensModule } from 'nest-lens';
import { express } from '../../support/adapters.js';
import { guardEachTest, lensApp, type LensApp, namesOf } from '../../support/lens-app.js';

describe('what is wrong in autoGroups', () => {
  guardEachTest();

  @Injectable()
  class HotService {
    work(): string {
      return 'worked';
    }
  }

  @Controller('orders')
  class OrdersController {
    constructor(private readonly service: HotService) {}

    @Get()
    list(): string {
      return this.service.work();
    }
  }

  const start = (autoGroups: unknown): Promise<LensApp> =>
    lensApp(express)
      .groups('order-jobs')
      .forRoot({ autoGroups: autoGroups as never })
      .controllers(OrdersController)
      .providers(HotService)
      .start();
  /** The warnings, and the spans of one request. */
  async function outcome(autoGroups: unknown): Promise<[string[], string[]]> {
    const lens = await start(autoGroups);
    const said = lens.warnings
      .splice(0)
      .filter(({ code }) => code.startsWith('AUTO_GROUPS'))
      .map(({ code, message }) => `${code}: ${message}`);
    expect((await lens.get('/orders')).text).toBe('worked');
    const spans = (await lens.spans()).map(
      ({ name, attributes }) => `${name} ${String(attributes['nestlens.group'])}`,
    );
    await lens.close();
    return [said, spans.sort()];
  }

  it('an exclude that matches nothing is one warning with the nearest name', async () => {
    for (const target of ['HotServise', 'hotservice', class HotServce {}]) {
      const [said, spans] = await outcome({ providers: 'services', exclude: [target] });
      expect(said).toEqual([
        expect.stringMatching(
          /^AUTO_GROUPS_UNMATCHED: autoGroups\.exclude names .*Did you mean 'HotService'\?/,
        ),
      ]);
      expect(spans).toEqual(['HotService.work services']);
    }
    const [said] = await outcome({ handlers: 'h', exclude: ['Nobody', HotService], include: ['NoModule'] });
    expect(said).toEqual([
      expect.stringMatching(
        /^AUTO_GROUPS_UNMATCHED: autoGroups\.include names 'NoModule', and this application has no class of that name: it changes nothing\. Name a module/,
      ),
      expect.stringMatching(/^AUTO_GROUPS_UNMATCHED: autoGroups\.exclude names 'Nobody'/),
    ]);
  });

  it('a group name that is none is made one, or is ignored; the rest applies', async () => {
    for (const [given, used] of [
      ['Order Handlers', 'order_handlers'],
      [' Handlers ', 'handlers'],
      ['a,b', 'a_b'],
      ['order-jobs', 'order-jobs'],
    ] as const) {
      const [said, spans] = await outcome({ handlers: given, providers: 'services' });
      const isAsGiven = used === given.trim().toLowerCase();
      expect(said).toEqual(isAsGiven ? [] : [expect.stringContaining(`'${used}' is used`)]);
      expect(spans).toEqual(['HotService.work services', `OrdersController.list ${used}`]);
    }
  });

  it('a group name of which nothing can be made is ignored', async () => {
    for (const given of [' ', '*', 'all', 'Default', 7, null, Symbol('s')]) {
      const [said, spans] = await outcome({ handlers: given, providers: 'services' });
      expect(said).toEqual([
        expect.stringMatching(/^AUTO_GROUPS_INVALID: autoGroups\.handlers is .*ignored/),
      ]);
      expect(spans).toEqual(['HotService.work services']);
    }
  });

  it('a value of a wrong type, and a key that is not known, are warnings, never a failed start', async () => {
    for (const given of [true, 'handlers', null, []]) {
      const [said, spans] = await outcome(given);
      expect(said).toEqual([expect.stringMatching(/^AUTO_GROUPS_INVALID: autoGroups is .*takes an object/)]);
      expect(spans).toEqual([]);
    }
    expect((await outcome([]))[0][0]).toContain('autoGroups is an array, but it takes an object');
    const [said] = await outcome({ handler: 'h', exclude: 7, include: [null, 7, ''] });
    expect(said.map((message) => message.slice('AUTO_GROUPS_INVALID: '.length, 60))).toEqual([
      expect.stringMatching(/^autoGroups\.handler is 'h'/),
      expect.stringMatching(/^autoGroups\.include is null/),
      expect.stringMatching(/^autoGroups\.include is number/),
      expect.stringMatching(/^autoGroups\.include is ''/),
      expect.stringMatching(/^autoGroups\.exclude is number/),
    ]);
    expect(said[0]).toContain('probably handlers');
    const hostile = Object.defineProperty({}, 'handlers', {
      enumerable: true,
      get: () => {
        throw new Error('hands off');
      },
    });
    expect((await outcome(hostile))[0]).toHaveLength(1);
  });

  it('a class or name alone stands for a list of it', async () => {
    for (const exclude of ['HotService', HotService]) {
      expect(await outcome({ handlers: 'h', providers: 'services', exclude })).toEqual([
        [],
        ['OrdersController.list h'],
      ]);
    }
  });

  it('a namespace of the application called auto stays its own', async () => {
    const lens = await lensApp(express)
      .forRoot({
        registrations: [{ namespace: 'auto', groups: ['cars'] }],
        autoGroups: { handlers: 'handlers' },
      })
      .controllers(OrdersController)
      .providers(HotService)
      .start();
    await lens.get('/orders');
    expect(namesOf(await lens.spans())).toEqual(['OrdersController.list']);
    expect((await lens.get('/lens/groups')).json().namespaces).toEqual(['auto', 'auto_groups']);
    await lens.close();
  });

  it('the option counts in the first forRoot of an application, from a factory, too', async () => {
    const builder = lensApp(express).groups('order-jobs');
    const lens = await builder
      .withoutRoot()
      .imports(
        NestLensModule.forRootAsync({
          useFactory: async () => builder.moduleOptions({ autoGroups: { handlers: 'handlers' } }),
        }),
        NestLensModule.forRoot({ autoGroups: { providers: 'services' } }),
      )
      .controllers(OrdersController)
      .providers(HotService)
      .start();
    await lens.get('/orders');
    expect(namesOf(await lens.spans())).toEqual(['OrdersController.list']);
    expect(lens.warnings.map(({ code }) => code)).toEqual(['NAME_STYLE', 'OPTIONS_IGNORED']);
  });
});
