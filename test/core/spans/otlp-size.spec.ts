import { beforeEach, describe, expect, it, vi } from 'vitest';
import type { Attributes, Span } from '@opentelemetry/api';
import { managedSpan, SpanRegistry, withSpan } from 'nest-lens/core';
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

  /** What a turn of spans takes in an export, and what is computed for it. */
  async function measureTurns(): Promise<(make: () => void) => Promise<{ sent: number; computed: number }>> {
    const receiver = await startReceiver();
    Object.assign(process.env, {
      OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url,
      OTEL_BSP_SCHEDULE_DELAY: '600000',
      OTEL_BSP_MAX_EXPORT_BATCH_SIZE: '2000',
    });
    const handle = await setUpForTest({ exporter: 'otlp' });
    let computed = 0;
    hearOfEndedSpans((span) => void (computed += otlpSize(span)));
    const send = async (turns: number, make: () => void): Promise<number> => {
      for (let at = 0; at < turns; at += 1) make();
      await handle.forceFlush();
      return receiver.received.at(-1)!.bytes!;
    };
    return async (make) => {
      const few = await send(1, make);
      computed = 0;
      const many = await send(101, make);
      return { sent: (many - few) / 100, computed: computed / 101 };
    };
  }

  it('is within 5 % of what the exporter sends for a span, in protobuf', async () => {
    const measure = await measureTurns();
    for (const [name, attributes, error] of kinds) {
      const { sent, computed } = await measure(() =>
        managedSpan('orders', 'parent', () => {
          try {
            managedSpan('orders', name, { attributes }, () => {
              if (error !== undefined) throw error;
            });
          } catch {
            // It is in the span.
          }
        }),
      );
      expect([name, computed / sent]).toEqual([name, expect.closeTo(1, 1.3)]);
    }
    expect(processState.telemetry.exports?.spansLost).toBe(0);
  });

  const eventOf = 'an event whose name is long, as those of some libraries are';
  const parts: [string, (span: Span) => void][] = [
    ['nothing', () => undefined],
    ['a small number', (span) => span.setAttribute('n', 7)],
    ['zero', (span) => span.setAttribute('n', 0)],
    ['a large number', (span) => span.setAttribute('n', 2 ** 40)],
    ['a negative number', (span) => span.setAttribute('n', -7)],
    ['a fraction', (span) => span.setAttribute('n', 1.5)],
    ['a negative fraction', (span) => span.setAttribute('n', -1.5)],
    ['a boolean', (span) => span.setAttribute('n', false)],
    [
      'a list',
      (span) =>
        span.setAttribute(
          'n',
          Array.from({ length: 9 }, () => 'a'),
        ),
    ],
    ['events', (span) => span.addEvent(eventOf).addEvent(eventOf, { a: 'b' })],
  ];

  it('is within two bytes of what the exporter sends for a span without a parent, whatever it has', async () => {
    const measure = await measureTurns();
    for (const [name, add] of parts) {
      const { sent, computed } = await measure(() => withSpan('root', add));
      expect(Math.abs(computed - sent), name).toBeLessThan(2);
    }
  });
});
