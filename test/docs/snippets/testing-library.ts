/* eslint-disable @typescript-eslint/no-floating-promises -- the runner waits for its tests */
// #region testing-library
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createLensTestbed } from 'nest-lens/testing';
import { mailSpans, sendMail } from './library.js';

test('a mail makes one span by default, and none while its group is off', async () => {
  await using testbed = await createLensTestbed({ spec: 'default', definitions: [mailSpans] });

  await sendMail('you@example.org');
  assert.equal(testbed.tree(), 'mail.send [mail_send]');

  testbed.reset();
  await testbed.withGroups('', () => sendMail('you@example.org'));
  assert.equal(testbed.tree(), '');
});
// #endregion
