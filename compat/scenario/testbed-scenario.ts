// Tests of an application with nest-lens/testing, written once for all runners: the root module is as it is in production.
import assert from 'node:assert/strict';
import { setTimeout as pause } from 'node:timers/promises';
import { Controller, Get, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { defineSpanGroups, managedSpan, NestLensModule, SpanGroup, SpanRegistry } from 'nest-lens';
import { createLensTestbed } from 'nest-lens/testing';
import { type Platform, PLATFORMS } from './scenario.js';

const mail = defineSpanGroups({ namespace: 'mail', groups: ['mail_read', 'mail_parse'] });

@Controller('mails')
class MailsController {
  @Get()
  @SpanGroup('mail_read')
  async list() {
    await pause(1);
    return managedSpan('mail_parse', 'mail.parse', () => ['hello']);
  }
}

@Module({
  imports: [NestLensModule.forRoot({ registrations: [mail] })],
  controllers: [MailsController],
})
class MailModule {}

/** One test of an application in a testbed of its own; several may run at the same time. */
async function testWith(spec: string, platform: Platform): Promise<string> {
  const testbed = await createLensTestbed({ spec });
  const app = await NestFactory.create(MailModule, PLATFORMS[platform](), {
    logger: ['warn', 'fatal'],
    abortOnError: false,
  });
  await app.listen(0, '127.0.0.1');
  try {
    const response = await fetch(`${await app.getUrl()}/mails`);
    assert.equal(await response.text(), '["hello"]');
    return testbed.tree();
  } finally {
    await app.close();
    await testbed.dispose();
  }
}

/** Throws when anything isn't as it should be. */
export async function runTestbedScenario(platform: Platform): Promise<void> {
  // Other test files may have registered groups in this process.
  const before = SpanRegistry.namespaces();
  const read = `${MailsController.name}.list [mail_read]`;
  assert.equal(await testWith('all', platform), `${read}\n  mail.parse [mail_parse]`);
  const trees = await Promise.all(['mail_parse', '', 'mail_read'].map((spec) => testWith(spec, platform)));
  assert.deepEqual(trees, ['mail.parse [mail_parse]', '', read]);
  assert.deepEqual(SpanRegistry.namespaces(), before);
}
