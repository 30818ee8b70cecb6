import { describe, expect, it, vi } from 'vitest';
import { startReceiver } from '../support/otlp-receiver.js';
import { startShop } from '../support/shop-process.js';

vi.setConfig({ testTimeout: 60_000 });

describe('instrumentations', () => {
  it.each([
    ['that the application gives each time', { scriptArguments: ['given'] }],
    ['that nest-lens/register has started', { nodeArguments: ['--import', 'nest-lens/register'] }],
  ])('H1: %s work in each set-up, and make nothing in between', async (_, how) => {
    const receiver = await startReceiver();
    const rounds = startShop({
      ...how,
      script: 'rounds.cjs',
      env: { OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url },
    });
    expect(await rounds.exited).toEqual({ code: 0, signal: null });
    // By the client and by the server.
    const asked = receiver.spans.map(({ kind, attributes }) => {
      const target = attributes['http.target'] ?? attributes['url.path'] ?? attributes['url.full'];
      return `${kind === 2 ? 'served' : 'asked'} ${new URL(String(target), 'http://host').pathname}`;
    });
    expect(asked.sort()).toEqual(
      ['asked', 'served'].flatMap((part) => ['first', 'second', 'third'].map((path) => `${part} /${path}`)),
    );
  });
});
