// The header with the real instrumentation of Node's HTTP: its spans, and the processes that are called meanwhile.
import { expect, it, vi } from 'vitest';
import { signSpanGroups } from 'nest-lens';
import { type OtlpReceiver, startReceiver } from '../support/otlp-receiver.js';
import { type ShopProcess, startShop } from '../support/shop-process.js';

vi.setConfig({ testTimeout: 120_000 });

const KEY = 'k'.repeat(32);

const shopWith = (receiver: OtlpReceiver, service: string, requestOptIn: object): ShopProcess =>
  startShop({
    nodeArguments: ['--import', 'nest-lens/register'],
    shop: { options: { requestOptIn } },
    env: {
      NEST_LENS_INSTRUMENTATION_GROUPS: 'true',
      NEST_LENS_SPAN_GROUPS: '-all',
      OTEL_SERVICE_NAME: service,
      OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url,
    },
  });

it('I1: the header turns on the server span, and goes on as baggage that each process verifies again', async () => {
  const receiver = await startReceiver();
  const shops = [
    shopWith(receiver, 'first', { key: KEY, propagate: true }),
    shopWith(receiver, 'second', { key: KEY }),
  ];
  const [first, second] = (await Promise.all(shops.map((shop) => shop.url()))) as [string, string];
  const get = async (url: string, headers: Record<string, string> = {}): Promise<void> =>
    void (await (await fetch(url, { headers })).text());
  const header = { 'x-lens-groups': signSpanGroups('http,orders', { key: KEY }) };
  const passOn = (to: string): string => `${first}/pass-on?to=${encodeURIComponent(to)}`;
  await get(passOn(`${second}/pass-on?to=${encodeURIComponent(`${second}/orders`)}`), header);
  await get(passOn(`${second}/orders`));
  for (const text of ['http;exp=9;sig=x', signSpanGroups('http,orders', { key: 'o'.repeat(32) })]) {
    await get(`${second}/orders`, { baggage: `x-lens-groups=${encodeURIComponent(text)}` });
  }
  const document = await (await fetch(`${second}/lens/groups`)).json();
  await Promise.all(shops.map((shop) => shop.kill('SIGTERM')));

  expect(shops.flatMap((shop) => shop.warnings()).filter((line) => !line.includes('x-lens-groups'))).toEqual(
    [],
  );
  const made = receiver.spans
    .filter(({ name }) => /^(GET|OrdersController)/.test(name))
    .map(({ name, resource }) => `${String(resource['service.name'])} ${name}`);
  expect(made.sort()).toEqual([
    'first GET',
    'first GET /pass-on',
    'first OrdersController.passOn',
    'second GET',
    'second GET /pass-on',
    'second OrdersController.passOn',
  ]);
  // The second one doesn't propagate, so what it calls isn't traced, itself included.
  expect((document as any).requestOptIn).toEqual({
    allow: 'all',
    accepted: 1,
    ignored: { malformed: 1, badSignature: 1 },
  });
  const ofOne = receiver.spans.find(
    ({ name, resource }) => name === 'GET' && resource['service.name'] === 'second',
  )!;
  expect(
    new Set(
      receiver.spans
        .filter(({ traceId }) => traceId === ofOne.traceId)
        .map(({ resource }) => resource['service.name']),
    ),
  ).toEqual(new Set(['first', 'second']));
});
