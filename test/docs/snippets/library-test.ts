// #region library-test
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { SpanRegistry } from 'nest-lens/core';
import { createLensTestbed, type LensTestbed } from 'nest-lens/testing';
import { mailSpans, sendMail } from './library.js';

describe('the span groups of acme-mail', () => {
  let testbed: LensTestbed;

  beforeEach(async () => {
    testbed = await createLensTestbed({ spec: '', definitions: [mailSpans] });
  });

  afterEach(() => testbed.dispose());

  it('are in the presets where they belong', () => {
    expect([...SpanRegistry.resolve('default').enabled]).toEqual(['mail_send']);
    expect([...SpanRegistry.resolve('per_request').enabled].sort()).toEqual(['mail_render', 'mail_send']);
  });

  it('emit while they are on', async () => {
    await testbed.withGroups('mail_send', () => sendMail('ann@example.com'));
    expect(testbed.tree()).toBe('mail.send [mail_send]');
  });

  it("don't emit while they are off", async () => {
    expect(await sendMail('ann@example.com')).toBe('sent to ann@example.com');
    expect(testbed.tree()).toBe('');
  });
});
// #endregion
