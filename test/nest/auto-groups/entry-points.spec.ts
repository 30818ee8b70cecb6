import { describe, expect, it } from 'vitest';
import { Processor, WorkerHost } from '@nestjs/bullmq';
import { Controller, type INestMicroservice, Injectable } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import {
  CommandBus,
  CommandHandler,
  CqrsModule,
  EventBus,
  EventsHandler,
  QueryBus,
  QueryHandler,
} from '@nestjs/cqrs';
import { EventEmitter2, EventEmitterModule, OnEvent } from '@nestjs/event-emitter';
import { EventPattern, MessagePattern, Payload, Transport } from '@nestjs/microservices';
import { Interval, ScheduleModule, SchedulerRegistry } from '@nestjs/schedule';
import { MessageBody, SubscribeMessage, WebSocketGateway } from '@nestjs/websockets';
import { WsAdapter } from '@nestjs/platform-ws';
import { Query, Resolver } from '@nestjs/graphql';
import { NestLensModule } from 'nest-lens';
import { firstValueFrom } from 'rxjs';
import { WebSocket } from 'ws';
import { express } from '../../support/adapters.js';
import { closeAfterTest, guardTransportTests } from '../../support/close-after-test.js';
import { everythingSaid, lensApp, namesOf, until } from '../../support/lens-app.js';
import { connectTo } from '../../transports/tcp-microservice.js';

const AUTO = { handlers: 'handlers', enhancers: 'pipeline', providers: 'services' };

describe('the entry points that autoGroups takes for handlers', () => {
  guardTransportTests();

  // It loads four packages first.
  it('are scheduled methods, event listeners and handlers of CQRS; the packages themselves are left alone', async () => {
    let ticks = 0;
    @Injectable()
    class Jobs {
      @Interval(5)
      tick(): void {
        ticks += 1;
        this.helper();
      }

      @OnEvent('ordered')
      ordered(): void {
        this.helper();
      }

      helper(): void {
        // Is called only.
      }
    }
    class Place {}
    class Find {}
    class Placed {}
    @CommandHandler(Place)
    class PlaceHandler {
      async execute(): Promise<string> {
        return 'placed';
      }
    }
    @QueryHandler(Find)
    class FindHandler {
      async execute(): Promise<string> {
        return 'found';
      }
    }
    @EventsHandler(Placed)
    class PlacedHandler {
      handle(): void {
        // Is called only.
      }
    }
    const lens = await lensApp(express)
      .forRoot({ autoGroups: AUTO })
      .imports(ScheduleModule.forRoot(), EventEmitterModule.forRoot(), CqrsModule)
      .providers(Jobs, PlaceHandler, FindHandler, PlacedHandler)
      .start();
    const { app } = lens;
    expect(await app.get(CommandBus).execute(new Place())).toBe('placed');
    expect(await app.get(QueryBus).execute(new Find())).toBe('found');
    app.get(EventBus).publish(new Placed());
    app.get(EventEmitter2).emit('ordered');
    expect(await until(() => ticks > 0)).toBe(true);
    app
      .get(SchedulerRegistry)
      .getIntervals()
      .forEach((name) => app.get(SchedulerRegistry).deleteInterval(name));

    const spans = await lens.spans();
    const groupOf = Object.fromEntries(
      spans.map(({ name, attributes }) => [name, attributes['nestlens.group']]),
    );
    expect(groupOf).toEqual({
      'Jobs.tick': 'handlers',
      'Jobs.ordered': 'handlers',
      'Jobs.helper': 'services',
      'PlaceHandler.execute': 'handlers',
      'FindHandler.execute': 'handlers',
      'PlacedHandler.handle': 'handlers',
    });
    const { groups } = (await lens.get('/lens/groups?sites=1')).json();
    const services = groups.find(({ name }: any) => name === 'services').siteList;
    expect(services.map(({ name }: any) => name)).toEqual(['Jobs.helper']);
    expect(everythingSaid()).toEqual([]);
  }, 20_000);

  it('are processors of BullMQ queues and resolvers, as their packages mark them', async () => {
    @Processor('jobs')
    class JobsProcessor extends WorkerHost {
      async process(): Promise<string> {
        return 'processed';
      }

      helper(): string {
        return 'helped';
      }
    }
    @Resolver()
    class OrdersResolver {
      @Query(() => String)
      orders(): string {
        return 'orders';
      }
    }
    const lens = await lensApp(express)
      .forRoot({ autoGroups: AUTO })
      .providers(JobsProcessor, OrdersResolver)
      .start();
    await lens.app.get(JobsProcessor).process();
    lens.app.get(JobsProcessor).helper();
    lens.app.get(OrdersResolver).orders();
    const spans = await lens.spans();
    expect(
      spans.map(({ name, attributes }) => `${name} ${String(attributes['nestlens.group'])}`).sort(),
    ).toEqual([
      'JobsProcessor.helper services',
      'JobsProcessor.process handlers',
      'OrdersResolver.orders handlers',
    ]);
  });

  it('are patterns of a microservice and messages of a gateway', async () => {
    @Controller()
    class Sums {
      @MessagePattern('sum')
      sum(@Payload() numbers: number[]): number {
        return numbers.reduce((sum, number) => sum + number, 0);
      }

      @EventPattern('told')
      told(_: unknown): void {
        // Is called only.
      }
    }
    @WebSocketGateway()
    class Echo {
      @SubscribeMessage('echo')
      echo(@MessageBody() text: string): object {
        return { event: 'echo', data: text };
      }
    }
    let microservice: INestMicroservice | undefined;
    const lens = await lensApp(express)
      .forRoot({ autoGroups: { handlers: 'handlers' } })
      .controllers(Sums)
      .providers(Echo)
      .configure((app) => {
        app.useWebSocketAdapter(new WsAdapter(app));
        microservice = app.connectMicroservice({
          transport: Transport.TCP,
          options: { port: 0, host: '127.0.0.1' },
        });
      })
      .start();
    await lens.app.startAllMicroservices();
    const client = await connectTo(microservice!);
    expect(await firstValueFrom(client.send('sum', [1, 2, 3]))).toBe(6);
    await firstValueFrom(client.emit('told', {}), { defaultValue: undefined });

    const socket = new WebSocket(lens.url('/').replace('http', 'ws'));
    closeAfterTest(() => socket.close());
    await new Promise((resolve) => socket.once('open', resolve));
    const answer = new Promise<string>((resolve) =>
      socket.once('message', (data: Buffer) => resolve(data.toString())),
    );
    socket.send(JSON.stringify({ event: 'echo', data: 'hello' }));
    expect(JSON.parse(await answer)).toEqual({ event: 'echo', data: 'hello' });
    await until(() => lens.exporter.spans.length === 3);
    expect(namesOf(await lens.spans())).toEqual(['Echo.echo', 'Sums.sum', 'Sums.told']);
  });

  it('work without HTTP, in an application context', async () => {
    @Injectable()
    class Service {
      work(): string {
        return 'worked';
      }
    }
    const builder = lensApp(express);
    class RootModule {}
    const app = await NestFactory.createApplicationContext(
      {
        module: RootModule,
        imports: [NestLensModule.forRoot(builder.moduleOptions({ autoGroups: AUTO }))],
        providers: [Service],
      },
      { logger: false, abortOnError: false },
    );
    expect(app.get(Service).work()).toBe('worked');
    await app.close();
    expect(namesOf(builder.exporter.spans)).toEqual(['Service.work']);
  });
});
