// #region library-test
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { nestLensConfigFromEnv, setupTelemetry, SpanRegistry, type TelemetryHandle } from 'nest-lens/core';
import { type CapturedSpans, captureSpans, resetNestLens } from 'nest-lens/testing';
import { mailSpans, sendMail } from './library.js';

describe('the span groups of acme-mail', () => {
  let telemetry: TelemetryHandle | undefined;

  beforeEach(() => {
    resetNestLens(); // forgets what was registered at import, too
    mailSpans.register();
  });

  afterEach(() => telemetry?.shutdown());

  async function setUp(spanGroups: string): Promise<CapturedSpans> {
    const captured = captureSpans();
    const config = {
      ...nestLensConfigFromEnv({ env: {} }),
      enabled: true,
      spanGroups,
      metricsEnabled: false,
    };
    telemetry = await setupTelemetry(config, { spanProcessors: [captured.spanProcessor] });
    return captured;
  }

  it('are in the presets where they belong', () => {
    expect([...SpanRegistry.resolve('default').enabled]).toEqual(['mail_send']);
    expect([...SpanRegistry.resolve('per_request').enabled].sort()).toEqual(['mail_render', 'mail_send']);
  });

  it('emit while they are on', async () => {
    const captured = await setUp('mail_send');
    await sendMail('ann@example.com');
    await telemetry?.forceFlush();
    expect(captured.spans().map(({ name }) => name)).toEqual(['mail.send']);
  });

  it("don't emit while they are off", async () => {
    const captured = await setUp('all,-mail_send');
    expect(await sendMail('ann@example.com')).toBe('sent to ann@example.com');
    await telemetry?.forceFlush();
    expect(captured.spans()).toEqual([]);
  });
});
// #endregion
