import { describe, expect, it } from 'vitest';
import {
  BadRequestException,
  Controller,
  Get,
  HttpException,
  Inject,
  Injectable,
  NotFoundException,
  ServiceUnavailableException,
} from '@nestjs/common';
import { SpanStatusCode } from '@opentelemetry/api';
import { managedSpan, type NestLensModuleOptions, SpanGroup, traceFn, withSpan } from 'nest-lens';
import { processState } from '../../../src/core/state/process-state.js';
import { express, fastify } from '../../support/adapters.js';
import { guardEachTest, type LensApp, lensApp, setEnv, theSpan } from '../../support/lens-app.js';

/** Every way in which a thrown value passes a span, the outermost first. */
const WAYS = ['OrdersController.find', 'Orders.find', 'managed', 'traced', 'with'];
const INSIDE = WAYS.slice(1);

/** An application whose handler lets through what a service throws, from below several spans. */
function start(
  platform: typeof express,
  options: Partial<NestLensModuleOptions>,
  thrown: () => unknown,
): Promise<LensApp> {
  const traced = traceFn('orders', 'traced')(() => withSpan('with', () => Promise.reject(thrown() as Error)));

  @Injectable()
  class Orders {
    @SpanGroup('orders')
    find(): Promise<never> {
      return managedSpan('orders', 'managed', () => traced());
    }
  }

  @Controller('orders')
  class OrdersController {
    constructor(@Inject(Orders) private readonly orders: Orders) {}

    @Get()
    @SpanGroup('orders')
    find(): Promise<never> {
      return this.orders.find();
    }
  }
  return lensApp(platform)
    .groups('orders')
    .controllers(OrdersController)
    .providers(Orders)
    .forRoot(options)
    .start();
}

/** The status of each span that the thrown value has passed; each of them has it as an exception. */
async function statuses(lens: LensApp): Promise<Record<string, string>> {
  await lens.get('/orders');
  const spans = await lens.spans();
  return Object.fromEntries(
    WAYS.map((name) => {
      const span = theSpan(spans, name);
      expect(span.events.map((event) => event.name)).toEqual(['exception']);
      return [name, SpanStatusCode[span.status.code]];
    }),
  );
}

const all = (names: readonly string[], status: string): Record<string, string> =>
  Object.fromEntries(names.map((name) => [name, status]));

/** What `DelayedError` of BullMQ is: it says that the job goes on later. */
class DelayedError extends Error {}

describe.each([express, fastify])('what a service throws, on $name', (platform) => {
  guardEachTest();

  it('I12: an HttpException below 500 is an answer wherever it passes', async () => {
    const lens = await start(platform, {}, () => new NotFoundException('no order'));
    expect(await statuses(lens)).toEqual(all(WAYS, 'UNSET'));
  });

  it('I12: so is one of a class of your own', async () => {
    class TooMany extends HttpException {
      constructor() {
        super('too many', 429);
      }
    }
    const lens = await start(platform, {}, () => new TooMany());
    expect(await statuses(lens)).toEqual(all(WAYS, 'UNSET'));
  });

  it.each<[string, () => unknown]>([
    ['an HttpException from 500 up', () => new ServiceUnavailableException()],
    ['another error', () => new Error('boom')],
    ['an error that has a status', () => Object.assign(new Error('gone'), { status: 410, statusCode: 410 })],
    ['an error that looks the part', () => Object.assign(new Error('gone'), { getStatus: () => 410 })],
    ['an HttpException whose status cannot be read', () => unreadable(new NotFoundException())],
    ['a string', () => 'boom'],
  ])('I12: %s is an error wherever it passes', async (_kind, thrown) => {
    const lens = await start(platform, {}, thrown);
    expect(await statuses(lens)).toEqual(all(WAYS, 'ERROR'));
  });
});

function unreadable(exception: HttpException): HttpException {
  let asked = 0;
  const getStatus = exception.getStatus.bind(exception);
  // Nest asks when all spans have ended, and gets its answer. Each copy of NestLens in the process asks before, for each span.
  const asks = WAYS.length * processState.verdicts.answers.size;
  return Object.assign(exception, {
    getStatus() {
      if (++asked <= asks) throw new Error('no status');
      return getStatus();
    },
  });
}

describe('clientErrors', () => {
  guardEachTest();

  const notFound = (): unknown => new NotFoundException('no order');
  const everyThrow = { 'OrdersController.find': 'UNSET', ...all(INSIDE, 'ERROR') };

  it.each<[string, Partial<NestLensModuleOptions>]>([
    ['as an option', { clientErrors: 'error' }],
    ['as a key of config', { config: { clientErrors: 'error' } }],
    ['as an option that beats config', { clientErrors: 'error', config: { clientErrors: 'unset' } }],
  ])('I12: error, %s, makes every throw an error but that of the handler', async (_how, options) => {
    const lens = await start(express, options, notFound);
    expect(await statuses(lens)).toEqual(everyThrow);
  });

  it('I12, C1: error as a variable does the same, and the prefix of Python stands for it', async () => {
    setEnv({ NEMO_LENS_CLIENT_ERRORS: 'Error' });
    expect(await statuses(await start(express, {}, notFound))).toEqual(everyThrow);
  });

  it('C5, I12: an option beats the variable', async () => {
    setEnv({ NEST_LENS_CLIENT_ERRORS: 'error' });
    expect(await statuses(await start(express, { clientErrors: 'unset' }, notFound))).toEqual(
      all(WAYS, 'UNSET'),
    );
  });

  it('C3, H12: a word that is none is a wrong configuration: telemetry stays off, the application starts', async () => {
    setEnv({ NEST_LENS_CLIENT_ERRORS: 'sometimes' });
    const lens = await start(express, {}, notFound);
    expect((await lens.get('/orders')).status).toBe(404);
    expect(lens.warnings.map(({ code }) => code)).toEqual(['CONFIG_INVALID']);
    const { message } = lens.warnings[0]!;
    expect(message).toContain('NEST_LENS_CLIENT_ERRORS');
    expect(message).toContain("'sometimes'");
    expect(await lens.spans()).toEqual([]);
  });

  it('I12: what one application has said is forgotten when it is closed', async () => {
    const first = await start(express, { clientErrors: 'error', isError: () => false }, notFound);
    await first.close();
    expect(await statuses(await start(express, {}, notFound))).toEqual(all(WAYS, 'UNSET'));
  });
});

describe('isError', () => {
  guardEachTest();

  const isError = (thrown: unknown): boolean | undefined =>
    thrown instanceof DelayedError ? false : undefined;

  it('I12: of the application: control flow that is thrown is no error of any span', async () => {
    expect(await statuses(await start(express, { isError }, () => new DelayedError('later')))).toEqual(
      all(WAYS, 'UNSET'),
    );
  });

  it.each<[string, () => unknown, string]>([
    ['an answer', () => new BadRequestException(), 'UNSET'],
    ['another error', () => new Error('boom'), 'ERROR'],
  ])('I12: of the application: undefined leaves %s to the rule', async (_kind, thrown, status) => {
    expect(await statuses(await start(express, { isError }, thrown))).toEqual(all(WAYS, status));
  });

  it('I12: of the application: true makes an answer an error, in handlers, too', async () => {
    const lens = await start(express, { isError: () => true }, () => new NotFoundException());
    expect(await statuses(lens)).toEqual(all(WAYS, 'ERROR'));
  });

  it('I12: of the application, as one of the options for telemetry', async () => {
    const lens = await start(express, { telemetry: { isError } }, () => new DelayedError('later'));
    expect(await statuses(lens)).toEqual(all(WAYS, 'UNSET'));
  });

  it('I12: of a site: it is asked before the application, on a method and on a class', async () => {
    @SpanGroup('orders', { isError: (thrown) => !(thrown instanceof DelayedError) })
    class Jobs {
      delay(): never {
        throw new DelayedError('later');
      }
      fail(): never {
        throw new NotFoundException();
      }
      @SpanGroup('orders', { isError: () => undefined })
      leave(): never {
        throw new DelayedError('later');
      }
    }
    const lens = await lensApp(express)
      .groups('orders')
      .forRoot({ isError: () => true })
      .start();
    const jobs = new Jobs();
    for (const job of ['delay', 'fail', 'leave'] as const) expect(() => jobs[job]()).toThrow();
    const spans = await lens.spans();
    const status = (name: string) => SpanStatusCode[theSpan(spans, name).status.code];
    expect([status('Jobs.delay'), status('Jobs.fail'), status('Jobs.leave')]).toEqual([
      'UNSET',
      'ERROR',
      'ERROR',
    ]);
  });

  it('I12, I14: one that throws is said once, and the rule decides', async () => {
    const lens = await start(
      express,
      {
        isError: () => {
          throw new Error('what is this?');
        },
      },
      () => new NotFoundException(),
    );
    expect((await lens.get('/orders')).status).toBe(404);
    expect((await lens.get('/orders')).status).toBe(404);
    expect(lens.warnings.map(({ code }) => code)).toEqual(['IS_ERROR_FAILED']);
    const spans = await lens.spans();
    expect(spans.map((span) => SpanStatusCode[span.status.code])).toEqual(spans.map(() => 'UNSET'));
  });
});
