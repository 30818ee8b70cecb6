import { beforeEach, describe, expect, it, vi } from 'vitest';
import type { Attributes } from '@opentelemetry/api';
import { managedSpan, SpanRegistry } from 'nest-lens/core';
import { otlpSize } from '../../../src/core/spans/otlp-size.js';
import { processState } from '../../../src/core/state/process-state.js';
import { hearOfEndedSpans } from '../../../src/core/telemetry/hear-of-ended-spans.js';
import { setUpForTest } from '../../support/live-telemetry.js';
import { startReceiver } from '../../support/otlp-receiver.js';

vi.setConfig({ testTimeout: 30_000 });

describe('otlpSize', () => {
  beforeEach(() => SpanRegistry.register('shop', ['orders']));

  const kinds: [string, Attributes, Error?][] = [
    ['a block', {}],
    [
      'a handler',
      {
        'code.function.name': 'OrdersController.list',
        'nestjs.controller': 'OrdersController',
        'nestjs.callback': 'list',
        'nestjs.type': 'http',
        'http.route': '/orders/:id',
      },
    ],
    ['values of each kind', { n: 7, large: 1_234_567, part: 1.5, yes: true, list: ['a', 'bb'], ns: [1, 2], text: 'é'.repeat(400) }], // prettier-ignore
    ['a failure', {}, new Error('the payment was declined')],
  ];

  it('is within 5 % of what the exporter sends for a span, in protobuf', async () => {
    const receiver = await startReceiver();
    Object.assign(process.env, {
      OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url,
      OTEL_BSP_SCHEDULE_DELAY: '600000',
      OTEL_BSP_MAX_EXPORT_BATCH_SIZE: '2000',
    });
    const handle = await setUpForTest({ exporter: 'otlp' });
    let computed = 0;
    hearOfEndedSpans((span) => void (computed += otlpSize(span)));
    const sent = async (spans: number, make: () => void): Promise<number> => {
      for (let at = 0; at < spans; at += 1) make();
      await handle.forceFlush();
      return receiver.received.at(-1)!.bytes!;
    };
    for (const [name, attributes, error] of kinds) {
      const make = (): void =>
        managedSpan('orders', 'parent', () => {
          try {
            managedSpan('orders', name, { attributes }, () => {
              if (error !== undefined) throw error;
            });
          } catch {
            // It is in the span.
          }
        });
      const [few, many] = [await sent(1, make), ((computed = 0), await sent(101, make))];
      const perTurn = (many - few) / 100;
      expect([name, computed / 101 / perTurn]).toEqual([name, expect.closeTo(1, 1.3)]);
    }
    expect(processState.telemetry.exports?.spansLost).toBe(0);
  });
});
