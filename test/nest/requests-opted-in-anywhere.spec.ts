// The header in other circumstances than those of one plain application: connections, applications, set-ups.
import { hasSubscribers } from 'node:diagnostics_channel';
import dns from 'node:dns';
import { once } from 'node:events';
import { Agent, get, type IncomingMessage } from 'node:http';
import http2 from 'node:http2';
import type { AddressInfo } from 'node:net';
import { networkInterfaces } from 'node:os';
import { describe, expect, it, vi } from 'vitest';
import { Controller, Get } from '@nestjs/common';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { BasicTracerProvider } from '@opentelemetry/sdk-trace-base';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { context, trace } from '@opentelemetry/api';
import { isSpanGroupEnabled, NestLensModule, signSpanGroups } from 'nest-lens';
import { processState } from '../../src/core/state/process-state.js';
import { express, fastify, onEachPlatform } from '../support/adapters.js';
import { guardEachTest, type LensApp, lensApp, type LensAppBuilder, until } from '../support/lens-app.js';

vi.setConfig({ testTimeout: 60_000 });

const KEY = 'k'.repeat(32);
const headers = { 'x-lens-groups': signSpanGroups('orders', { key: KEY }) };

const hasIpv6 = Object.values(networkInterfaces()).some((found) =>
  found?.some(({ address }) => address === '::1'),
);

let goOn: (() => void) | undefined;

@Controller()
class OrdersController {
  @Get('is-on')
  isOn(): boolean {
    return isSpanGroupEnabled('orders');
  }

  @Get('held')
  async held(): Promise<boolean> {
    await new Promise<void>((resolve) => (goOn = resolve));
    return isSpanGroupEnabled('orders');
  }
}

const shop = { namespace: 'shop', groups: ['orders'] };
const appOf = (platform = express): LensAppBuilder =>
  lensApp(platform)
    .controllers(OrdersController)
    .forRoot({ registrations: [shop], requestOptIn: { key: KEY } })
    .spec('-all');
const isOn = async (lens: LensApp, given: Record<string, string> = {}): Promise<unknown> =>
  (await lens.get('/is-on', { headers: given })).text;

onEachPlatform('A request with the header x-lens-groups', (platform) => {
  it('I1: leaves the next one on its connection alone', async () => {
    const lens = await appOf(platform).start();
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const ask = async (given: Record<string, string>): Promise<string> => {
      const [response] = (await once(get(lens.url('/is-on'), { agent, headers: given }), 'response')) as [
        IncomingMessage,
      ];
      return String(await response.setEncoding('utf8').toArray());
    };
    const answers = [];
    for (let round = 0; round < 3; round++) answers.push(await ask(headers), await ask({}));
    agent.destroy();
    expect(answers).toEqual(['true', 'false', 'true', 'false', 'true', 'false']);
  });

  it('N2: counts in each application that shares the set-up', async () => {
    const first = await appOf(platform).start();
    const second = await appOf(platform).start();
    expect([await isOn(first, headers), await isOn(second, headers), await isOn(second)]).toEqual([
      'true',
      'true',
      'false',
    ]);
    await first.close();
    expect(await isOn(second, headers)).toBe('true');
  });

  it('S1: may be under way while its application closes', async () => {
    const lens = await appOf(platform).start();
    const answer = lens.get('/held', { headers });
    await until(() => goOn !== undefined);
    const closed = lens.close();
    goOn?.();
    goOn = undefined;
    await Promise.allSettled([answer, closed]);
    expect([processState.requestOptIn, processState.heldOpen.size]).toEqual([undefined, 0]);
  });
});

describe('The header x-lens-groups', () => {
  guardEachTest();

  it('I1: counts where the application has a provider of its own', async () => {
    trace.setGlobalTracerProvider(new BasicTracerProvider());
    context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
    const lens = await appOf()
      .forRoot({ telemetry: { spanExporter: undefined as never } })
      .start();
    expect(processState.telemetry.mode).toBe('attach');
    expect([await isOn(lens, headers), await isOn(lens)]).toEqual(['true', 'false']);
  });

  it('C3: says once that allow names what nobody has registered, when everybody has', async () => {
    const requestOptIn = { key: KEY, allow: ['ordres', 'late'] };
    const late = NestLensModule.forFeature({ namespace: 'late', groups: ['late'] });
    const first = await appOf().forRoot({ requestOptIn, setupAt: 'init' }).imports(late).start();
    await appOf().forRoot({ requestOptIn }).imports(late).start();
    const said = first.warnings.filter(({ code }) => code === 'REQUEST_OPT_IN_ALLOW');
    expect(said.map(({ details }) => details['pending'])).toEqual([['ordres']]);
    expect(said[0]!.message).toContain("Did you mean 'orders' for 'ordres'?");
  });

  it('I1: counts over HTTP/2', async () => {
    const lens = await appOf({ name: 'Fastify', create: () => new FastifyAdapter({ http2: true }) }).start();
    const client = http2.connect(lens.url(''));
    const ask = async (given: Record<string, string>): Promise<string> =>
      String(
        await client
          .request({ ':path': '/is-on', ...given })
          .setEncoding('utf8')
          .toArray(),
      );
    expect([await ask(headers), await ask({})]).toEqual(['true', 'false']);
    expect(await until(() => processState.heldOpen.size === 0)).toBe(true);
    client.destroy();
  });

  (hasIpv6 ? it : it.skip)(
    'I1: counts at each address of localhost, for which Fastify has servers of their own',
    async () => {
      const addresses = [
        { address: '127.0.0.1', family: 4 },
        { address: '::1', family: 6 },
      ];
      // Fastify asks for all addresses of a name, Node's server for one.
      const lookup = vi.spyOn(dns, 'lookup').mockImplementation((...given: unknown[]) => {
        const [host, options] = given as [string, { all?: boolean }];
        const done = given.at(-1) as (error: null, found: unknown, family?: number) => void;
        if (options.all === true) done(null, addresses);
        else if (host === '::1') done(null, host, 6);
        else done(null, '127.0.0.1', 4);
      });
      const adapter = new FastifyAdapter();
      const listen = adapter.listen.bind(adapter) as (port: number, host: string, done: unknown) => void;
      adapter.listen = ((port: number, _host: string, done: unknown) =>
        listen(port, 'localhost', done)) as never;
      const lens = await appOf({ name: 'Fastify', create: () => adapter }).start();
      lookup.mockRestore();
      const { port } = lens.app.getHttpServer().address() as AddressInfo;
      const ask = async (host: string, given: Record<string, string>): Promise<string> => {
        const [response] = (await once(
          get({ host, port, path: '/is-on', agent: false, headers: given }),
          'response',
        )) as [IncomingMessage];
        return String(await response.setEncoding('utf8').toArray());
      };
      const answers = [];
      for (const { address } of addresses) {
        for (const given of [headers, {}, headers]) answers.push(await ask(address, given));
      }
      expect(answers).toEqual(['true', 'false', 'true', 'true', 'false', 'true']);
      expect(await until(() => processState.heldOpen.size === 0)).toBe(true);
      await lens.close();
      expect(hasSubscribers('http.server.request.start')).toBe(false);
    },
  );

  it('C3: is an option of what a factory returns', async () => {
    const builder = lensApp(fastify).controllers(OrdersController).withoutRoot();
    const options = { ...appOf().moduleOptions({ registrations: [shop] }), requestOptIn: { key: KEY } };
    const lens = await builder
      .imports(
        NestLensModule.forRootAsync({
          useFactory: () => ({ ...options, config: { ...options.config, spanGroups: '-all' } }),
        }),
      )
      .start();
    expect([await isOn(lens, headers), await isOn(lens)]).toEqual(['true', 'false']);
  });

  it.each<[unknown, RegExp]>([
    [KEY, /requestOptIn must be an object with a key/],
    [{ key: KEY, alow: ['orders'] }, /must be key, keys, allow, propagate, not the string 'alow'/],
  ])('C3: an option that nobody could obey stops the start, and shows no key', (requestOptIn, message) => {
    const wire = (): unknown => NestLensModule.forRoot({ requestOptIn: requestOptIn as never });
    expect(wire).toThrow(message);
    expect(wire).not.toThrow(/kkk/);
  });
});
