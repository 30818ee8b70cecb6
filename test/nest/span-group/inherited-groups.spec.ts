import { inherits } from 'node:util';
import { describe, expect, it } from 'vitest';
import { Controller, Get, Injectable, type Type } from '@nestjs/common';
import { EventEmitter2, EventEmitterModule, OnEvent } from '@nestjs/event-emitter';
import { Interval, ScheduleModule } from '@nestjs/schedule';
import { NoSpanGroup, SpanGroup } from 'nest-lens';
import { express, onEachPlatform } from '../../support/adapters.js';
import { guardEachTest, lensApp, namesOf } from '../../support/lens-app.js';

onEachPlatform('the group of a base class, for handlers', (platform) => {
  const spanNames = async (...controllers: Type<unknown>[]): Promise<string[]> => {
    const lens = await lensApp(platform)
      .groups('orders')
      .controllers(...controllers)
      .start();
    for (const path of ['/sub', '/sub/own']) expect((await lens.get(path)).status).toBe(200);
    const names = namesOf(await lens.spans());
    await lens.close();
    return names;
  };

  @SpanGroup('orders')
  class Base {
    @Get()
    list(): string {
      return 'list';
    }

    format(): string {
      return 'own';
    }
  }

  it('N4: a subclass has it for the handlers that it adds, and not for its other methods', async () => {
    @Controller('sub')
    class SubController extends Base {
      @Get('own')
      own(): string {
        return this.helper();
      }

      helper(): string {
        return 'own';
      }
    }

    expect(await spanNames(SubController)).toEqual(['SubController.list', 'SubController.own']);
  });

  it('N4: @NoSpanGroup on a subclass takes out what it adds and what it inherits, and leaves the base as it is', async () => {
    @NoSpanGroup()
    @Controller('sub')
    class SubController extends Base {
      @Get('own')
      own(): string {
        return 'own';
      }
    }
    @Controller('sibling')
    class SiblingController extends Base {}
    const lens = await lensApp(platform)
      .groups('orders')
      .controllers(SubController, SiblingController)
      .start();
    for (const path of ['/sub', '/sub/own', '/sibling']) expect((await lens.get(path)).status).toBe(200);

    expect(namesOf(await lens.spans())).toEqual(['SiblingController.list']);
    expect((await lens.get('/lens/groups')).json().groups[0].sites).toBe(1);
  });

  it('N4: what is in the group already stays the same function, where it is', async () => {
    @Controller('sub')
    class SubController extends Base {
      @Get('own')
      own(): string {
        return 'own';
      }
    }
    const inherited = SubController.prototype.list;
    await spanNames(SubController);
    const own = SubController.prototype.own;
    await spanNames(SubController);

    expect(Object.hasOwn(SubController.prototype, 'list')).toBe(false);
    expect(SubController.prototype.list).toBe(inherited);
    expect(SubController.prototype.own).toBe(own);
  });

  it('N4: an inherited handler that a class takes into its group is a method like any other', () => {
    class Plain {
      @Get()
      list(): string {
        return 'list';
      }
    }
    @SpanGroup('orders')
    @Controller('sub')
    class SubController extends Plain {}

    const { value: _, ...taken } = Object.getOwnPropertyDescriptor(SubController.prototype, 'list')!;
    const { value: __, ...declared } = Object.getOwnPropertyDescriptor(Plain.prototype, 'list')!;
    expect(taken).toEqual(declared);
  });

  it("N4: the name in a class's options stands for the class, in subclasses too", async () => {
    @SpanGroup('orders', { name: 'shop' })
    class Named {
      @Get()
      list(): string {
        return 'list';
      }
    }
    @Controller('sub')
    class SubController extends Named {
      @Get('own')
      own(): string {
        return 'own';
      }
    }

    expect(await spanNames(SubController)).toEqual(['shop.list', 'shop.own']);
  });

  it('N4: a method of its own @SpanGroup stays in it under a @NoSpanGroup on the class', async () => {
    @Controller('sub')
    @NoSpanGroup()
    class SubController {
      @Get()
      @SpanGroup('orders')
      list(): string {
        return 'list';
      }

      @Get('own')
      own(): string {
        return 'own';
      }
    }

    expect(await spanNames(SubController)).toEqual(['SubController.list']);
  });
});

describe('the group of a base class, for other providers', () => {
  guardEachTest();

  /** Calls a method of providers in an application with the groups on, and tells which spans that gave. */
  async function spansOf(providers: Type<unknown>[], ...calls: [Type<any>, string][]): Promise<string[]> {
    const lens = await lensApp(express)
      .groups('jobs', 'mail')
      .providers(...providers)
      .start();
    for (const [Class, method] of calls) lens.app.get(Class)[method]();
    const spans = await lens.spans();
    await lens.close();
    return spans.map(({ name, attributes }) => `${name} ${String(attributes['nestlens.group'])}`);
  }

  @SpanGroup('jobs')
  abstract class Worker {
    setUp(): string {
      return 'ready';
    }
  }
  class Queue extends Worker {
    size(): number {
      return 1;
    }
  }

  it('N4: a subclass has it for its own methods, and so has the class between them', async () => {
    @Injectable()
    class Mails extends Queue {
      process(): string {
        return 'sent';
      }

      get expensive(): string {
        throw new Error('hands off');
      }
    }

    expect(await spansOf([Mails], [Mails, 'process'], [Mails, 'size'], [Mails, 'setUp'])).toEqual([
      'Mails.process jobs',
      'Mails.size jobs',
      'Mails.setUp jobs',
    ]);
  });

  it("N4: a subclass's own @SpanGroup wins, and the base keeps its group", async () => {
    @SpanGroup('mail')
    @Injectable()
    class Mails extends Worker {
      process(): string {
        return 'sent';
      }
    }

    expect(await spansOf([Mails], [Mails, 'process'], [Mails, 'setUp'])).toEqual([
      'Mails.process mail',
      'Mails.setUp jobs',
    ]);
  });

  it("N4: a subclass's own @NoSpanGroup wins, whichever class is seen first", async () => {
    class Between extends Worker {
      between(): string {
        return 'between';
      }
    }
    @NoSpanGroup()
    class Silent extends Between {
      process(): string {
        return 'sent';
      }
    }
    class BelowSilent extends Silent {
      more(): string {
        return 'more';
      }
    }
    class Loud extends Between {
      process(): string {
        return 'sent';
      }
    }
    const calls = ['setUp', 'between', 'process'] as const;
    for (const providers of [
      [Silent, BelowSilent, Loud],
      [Loud, BelowSilent, Silent],
    ]) {
      expect(
        await spansOf(
          providers,
          ...calls.map((method): [Type<any>, string] => [Silent, method]),
          [BelowSilent, 'more'],
          ...calls.map((method): [Type<any>, string] => [Loud, method]),
        ),
      ).toEqual(['Loud.setUp jobs', 'Loud.between jobs', 'Loud.process jobs']);
    }
  });

  it('N4: methods of their own decorator keep it', async () => {
    class Mails extends Worker {
      @SpanGroup('mail')
      process(): string {
        return 'sent';
      }

      @NoSpanGroup()
      health(): string {
        return 'up';
      }
    }

    expect(await spansOf([Mails], [Mails, 'process'], [Mails, 'health'])).toEqual(['Mails.process mail']);
  });

  it('N4: a class that inherits in the old style has it too', async () => {
    const Mails = function Mails() {} as unknown as Type<unknown>;
    inherits(Mails, Queue);
    (Mails.prototype as Record<string, unknown>).process = () => 'sent';

    expect(await spansOf([Mails], [Mails, 'process'])).toEqual(['Mails.process jobs']);
  });

  it('N4: what a factory makes has it, and so has what another class extends and nobody provides', async () => {
    class Mails extends Queue {
      process(): string {
        return 'sent';
      }
    }
    const lens = await lensApp(express)
      .groups('jobs')
      .providers({ provide: 'MAILS', useFactory: () => new Mails() })
      .start();
    lens.app.get<Mails>('MAILS').process();

    expect(namesOf(await lens.spans())).toEqual(['Mails.process']);
  });

  it('N4: frozen classes, and those whose methods cannot be replaced, start and work', async () => {
    class Frozen extends Worker {
      process(): string {
        return 'sent';
      }
    }
    Object.freeze(Frozen.prototype);
    class Sealed extends Worker {
      process(): string {
        return 'sent';
      }
    }
    Object.seal(Sealed.prototype);
    @NoSpanGroup()
    class Closed extends Worker {}
    Object.preventExtensions(Closed.prototype);

    expect(
      await spansOf([Frozen, Sealed, Closed], [Frozen, 'process'], [Sealed, 'process'], [Frozen, 'setUp']),
    ).toEqual(['Frozen.setUp jobs']);
  });

  it('N4: what Nest calls by its own means has it: @Interval, @OnEvent, and a queue that takes the method once', async () => {
    // As BullMQ's registrar does: the method is bound when the module is initialised.
    const processors: (() => string)[] = [];
    abstract class WorkerHost {
      abstract process(): string;

      onModuleInit(): void {
        processors.push(this.process.bind(this));
      }
    }
    @SpanGroup('jobs')
    abstract class TracedWorker extends WorkerHost {}
    class Mails extends TracedWorker {
      process(): string {
        return 'sent';
      }
    }
    let ticked!: () => void;
    const tick = new Promise<void>((resolve) => (ticked = resolve));
    @Injectable()
    class Timers extends Worker {
      @Interval(5)
      tick(): void {
        ticked();
      }
    }
    @Injectable()
    class Listeners extends Worker {
      @OnEvent('order.placed')
      placed(): void {}
    }
    const lens = await lensApp(express)
      .groups('jobs')
      .imports(ScheduleModule.forRoot(), EventEmitterModule.forRoot())
      .providers(Mails, Timers, Listeners)
      .start();
    expect(processors.map((process) => process())).toEqual(['sent']);
    lens.app.get(EventEmitter2).emit('order.placed');
    await tick;

    expect([...new Set(namesOf(await lens.spans()))]).toEqual([
      'Listeners.placed',
      'Mails.process',
      'Timers.tick',
    ]);
  });

  it('N7, W9: those methods are sites', async () => {
    class Mails extends Worker {
      process(): string {
        return 'sent';
      }
    }
    const lens = await lensApp(express).groups('other').providers(Mails).start();

    expect(lens.warnings.map(({ code, details }) => [code, details.site])).toEqual([
      ['UNKNOWN_GROUP_AT_SITE', 'Mails.process'],
      ['UNKNOWN_GROUP_AT_SITE', 'Mails.setUp'],
    ]);
  });
});

describe('a call of super', () => {
  guardEachTest();

  type Marked = 'class' | 'method' | 'not';
  const marks: Marked[] = ['class', 'method', 'not'];
  const mark = (at: Marked, marked: Marked, group: string): ClassDecorator & MethodDecorator =>
    at === marked ? SpanGroup(group) : () => undefined;

  const table = marks.flatMap((base) =>
    marks.flatMap((middle) => marks.map((sub) => ({ base, middle, sub }))),
  );

  it.each(table)(
    'N5: is the same call: marked at base $base, class between $middle, subclass $sub',
    async ({ base, middle, sub }) => {
      @mark('class', base, 'jobs')
      class Base {
        @mark('method', base, 'jobs')
        work(): string {
          return 'base';
        }
      }
      @mark('class', middle, 'jobs')
      class Middle extends Base {
        @mark('method', middle, 'jobs')
        override work(): string {
          return `${super.work()}+middle`;
        }
      }
      @mark('class', sub, 'jobs')
      @Injectable()
      class Sub extends Middle {
        @mark('method', sub, 'jobs')
        override work(): string {
          return `${super.work()}+${super.work()}`;
        }
      }
      const lens = await lensApp(express).groups('jobs').providers(Sub).start();
      expect(lens.app.get(Sub).work()).toBe('base+middle+base+middle');
      const spans = await lens.spans();

      const inherits = base === 'class' || middle === 'class';
      const isMarked = sub !== 'not' || inherits;
      // Where only methods of base classes are marked, the subclass is in no group: each call of super is a call of its own.
      const expected = isMarked ? 1 : base === 'method' || middle === 'method' ? 2 : 0;
      expect(namesOf(spans)).toEqual(Array.from({ length: expected }, () => 'Sub.work'));
    },
  );

  it('N5: is the same call in another group, async, and with the attributes of both', async () => {
    class Base {
      @SpanGroup('jobs', { attributes: (id: number) => ({ 'base.id': id }) })
      async work(id: number): Promise<number> {
        return id;
      }
    }
    @Injectable()
    class Sub extends Base {
      @SpanGroup('mail', { attributes: (id: number) => ({ 'sub.id': id }) })
      override async work(id: number): Promise<number> {
        await Promise.resolve();
        return super.work(id + 1);
      }
    }
    const seen: Record<string, unknown> = {};
    for (const spec of ['jobs', 'mail', 'jobs,mail']) {
      const lens = await lensApp(express).groups('jobs', 'mail').spec(spec).providers(Sub).start();
      expect(await lens.app.get(Sub).work(1)).toBe(2);
      seen[spec] = (await lens.spans()).map(({ attributes }) => [
        attributes['nestlens.group'],
        attributes['sub.id'],
        attributes['base.id'],
      ]);
      await lens.close();
    }

    expect(seen).toEqual({
      jobs: [['jobs', undefined, 2]],
      mail: [['mail', 1, undefined]],
      'jobs,mail': [['mail', 1, 2]],
    });
  });

  it('N5: recursion through an override is a call of its own each time', async () => {
    @SpanGroup('jobs')
    class Base {
      count(n: number): number {
        return n;
      }
    }
    @Injectable()
    class Sub extends Base {
      override count(n: number): number {
        return n === 0 ? super.count(0) : super.count(1) + this.count(n - 1);
      }
    }
    const lens = await lensApp(express).groups('jobs').providers(Sub).start();
    lens.app.get(Sub).count(2);

    expect(namesOf(await lens.spans())).toEqual(['Sub.count', 'Sub.count', 'Sub.count']);
  });

  it('N5: recursion from within the base class comes back through the override: a call of its own each time', async () => {
    @SpanGroup('jobs')
    class Base {
      walk(n: number): number {
        return n === 0 ? 0 : this.walk(n - 1);
      }
    }
    @Injectable()
    class Sub extends Base {
      override walk(n: number): number {
        return super.walk(n);
      }
    }
    const lens = await lensApp(express).groups('jobs').providers(Sub).start();
    lens.app.get(Sub).walk(2);

    expect(namesOf(await lens.spans())).toEqual(['Sub.walk', 'Sub.walk', 'Sub.walk']);
  });

  it('N5: of a static method is the same call', async () => {
    class Base {
      @SpanGroup('jobs')
      static make(): string {
        return 'base';
      }
    }
    class Sub extends Base {
      @SpanGroup('jobs')
      static override make(): string {
        return `${super.make()}+sub`;
      }
    }
    const lens = await lensApp(express).groups('jobs').start();

    expect(Sub.make()).toBe('base+sub');
    expect(namesOf(await lens.spans())).toEqual(['Sub.make']);
  });
});
