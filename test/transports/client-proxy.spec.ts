import { describe, expect, it } from 'vitest';
import { Controller, type INestMicroservice } from '@nestjs/common';
import {
  type ClientProxy,
  ClientProxyFactory,
  EventPattern,
  MessagePattern,
  Transport,
} from '@nestjs/microservices';
import { trace } from '@opentelemetry/api';
import { inSubscriptionContext, managedSpan, withSpan } from 'nest-lens';
import type { AddressInfo, Server } from 'node:net';
import { interval, lastValueFrom, map, mergeMap, Observable, retry, take, tap, throwError } from 'rxjs';
import { express } from '../support/adapters.js';
import { closeAfterTest, guardTransportTests } from '../support/close-after-test.js';
import { lensApp, type LensAppBuilder, parentIdOf, theSpan, until } from '../support/lens-app.js';
import { finishedSpans } from '../support/finished-spans.js';
import { startMicroservice } from './tcp-microservice.js';

const activeId = (): string | undefined => trace.getActiveSpan()?.spanContext().spanId;

describe('a client of messages over TCP, whose socket a first request has opened', () => {
  guardTransportTests();

  let received: unknown[];
  let builder: LensAppBuilder;

  /** A client that somebody has used already: what comes from its socket comes in that one's context. */
  async function usedClient(): Promise<ClientProxy> {
    received = [];
    let attempts = 0;

    @Controller()
    class OrdersConsumer {
      @MessagePattern('price')
      price() {
        return 7;
      }

      @MessagePattern('flaky')
      flaky() {
        return ++attempts < 3 ? throwError(() => new Error(`attempt ${attempts}`)) : 'third';
      }

      @EventPattern('placed')
      placed(data: unknown) {
        received.push(data);
      }
    }
    builder = lensApp(express).groups('orders').spec('orders').controllers(OrdersConsumer);
    const { app } = await startMicroservice(builder);
    const client = clientOf(app);
    await withSpan('first request', () => lastValueFrom(client.send('price', {})));
    return client;
  }

  it('I9: the tries of a retry are spans side by side, none of them in the trace of the first request', async () => {
    const client = await usedClient();
    const call = managedSpan('orders', 'call', () => client.send<string>('flaky', {}));
    expect(await lastValueFrom(call.pipe(retry(5)))).toBe('third');
    const spans = await finishedSpans(builder);
    const calls = spans.filter(({ name }) => name === 'call');
    expect(calls.map(parentIdOf)).toEqual([undefined, undefined, undefined]);
    const first = theSpan(spans, 'first request').spanContext().traceId;
    expect(calls.map((span) => span.spanContext().traceId)).not.toContain(first);
  });

  it('I9: an error and a completion come where the observable was subscribed', async () => {
    const client = await usedClient();
    const seen: unknown[] = [];
    const note = (): void => void seen.push(activeId());
    await lastValueFrom(
      managedSpan('orders', 'call', () => client.send('price', {})).pipe(tap({ complete: note })),
    );
    await lastValueFrom(
      managedSpan('orders', 'call', () => client.send('flaky', {})).pipe(tap({ error: note })),
    ).catch(() => undefined);
    expect(seen).toEqual([undefined, undefined]);
  });

  it('I9: an emitted event that nobody subscribes is delivered, and its span is not marked as given up', async () => {
    const client = await usedClient();
    managedSpan('orders', 'emit', () => client.emit('placed', { id: 7 }));
    expect(await until(() => received.length > 0)).toBe(true);
    const span = theSpan(await finishedSpans(builder), 'emit');
    expect(received).toEqual([{ id: 7 }]);
    expect(span.attributes).toEqual({ 'nestlens.group': 'orders' });
  });

  it('operators behind a reply run in the trace of the first request; inSubscriptionContext() binds them', async () => {
    const client = await usedClient();
    const seen: Record<string, string | undefined> = {};
    const note = (place: string) => tap(() => void (seen[place] = activeId()));
    const caller = await withSpan('caller', async (span) => {
      await lastValueFrom(
        client.send('price', {}).pipe(note('before'), inSubscriptionContext(), note('behind')),
      );
      seen['awaited'] = activeId();
      await lastValueFrom(
        client.send<number>('price', {}).pipe(
          inSubscriptionContext(),
          mergeMap((price) => managedSpan('orders', 'place', () => [price])),
        ),
      );
      return span.spanContext().spanId;
    });
    const spans = await finishedSpans(builder);
    const first = theSpan(spans, 'first request').spanContext().spanId;
    expect(seen).toEqual({ before: first, behind: caller, awaited: caller });
    expect(parentIdOf(theSpan(spans, 'place'))).toBe(caller);
  });
});

describe('inSubscriptionContext()', () => {
  guardTransportTests();

  it('passes values, errors and completion on, each in the context of its own subscription', async () => {
    await lensApp(express).groups('orders').spec('orders').start();
    const seen: unknown[] = [];
    const source = interval(1).pipe(
      take(2),
      inSubscriptionContext(),
      map((value) => [value, activeId()]),
    );
    const ids = await Promise.all(
      ['one', 'two'].map((name) =>
        withSpan(name, async (span) => {
          await lastValueFrom(source.pipe(tap((value) => seen.push(value))));
          return span.spanContext().spanId;
        }),
      ),
    );
    expect(seen).toEqual([0, 1].flatMap((value) => ids.map((id) => [value, id])));
    const error = new Error('no');
    await expect(lastValueFrom(throwError(() => error).pipe(inSubscriptionContext()))).rejects.toBe(error);
  });

  it('lets an endless synchronous source know that enough was taken, and tears it down once', () => {
    let produced = 0;
    let tornDown = 0;
    const endless = new Observable<number>((subscriber) => {
      subscriber.add(() => tornDown++);
      while (!subscriber.closed && produced < 1_000) subscriber.next(produced++);
    });
    const seen: number[] = [];
    endless.pipe(inSubscriptionContext(), take(2)).subscribe((value) => seen.push(value));
    expect([seen, produced, tornDown]).toEqual([[0, 1], 2, 1]);
    const idle = new Observable(() => () => tornDown++).pipe(inSubscriptionContext()).subscribe();
    idle.unsubscribe();
    expect(tornDown).toBe(2);
  });
});

/** Not connected yet. */
function clientOf(microservice: INestMicroservice): ClientProxy {
  const { port } = microservice.unwrap<Server>().address() as AddressInfo;
  const client = ClientProxyFactory.create({
    transport: Transport.TCP,
    options: { host: '127.0.0.1', port },
  });
  closeAfterTest(() => client.close());
  return client;
}
