'use strict';

// The library in the three states in which an application may have it. EXPECTED says which one this is.
const assert = require('node:assert/strict');
const { appendFileSync, existsSync } = require('node:fs');

const isInstalled = (name) => existsSync(`node_modules/${name}`);
const MAIL = { to: 'ada@example.org', text: 'Dear ada@example.org' };

/** What the library does whatever else is there. */
async function checkWork({ sendMail }) {
  assert.deepEqual(await sendMail('ada@example.org'), MAIL);
  await assert.rejects(async () => sendMail('nobody'), TypeError);
}

/** With NestLens, but neither Nest nor an SDK: the groups are registered, and the gate decides. */
async function checkGroups(library, { api, lens }) {
  assert.deepEqual([isInstalled('@nestjs'), isInstalled('@opentelemetry/sdk-node')], [false, false]);
  assert.deepEqual([...lens.SpanRegistry.namespaces()], ['acme_mail']);
  const started = [];
  const span = new Proxy(api.trace.wrapSpanContext(api.INVALID_SPAN_CONTEXT), {
    get: (target, key) => Reflect.get(target, key).bind(target),
  });
  const startSpan = (name) => {
    started.push(name);
    return span;
  };
  api.trace.setGlobalTracerProvider({ getTracer: () => ({ startSpan }) });
  const spansOf = async (spec) => {
    started.length = 0;
    lens.setSpanGroupSpec(spec);
    await library.sendMail('ada@example.org');
    return [...started];
  };
  assert.deepEqual(await spansOf(''), []);
  assert.deepEqual(await spansOf('default'), ['mail.send']);
  assert.deepEqual(await spansOf('per_request'), ['mail.send', 'mail.render']);
  assert.deepEqual(await spansOf('all,-mail_send'), ['mail.render']);
}

/** `load(name)` imports or requires, as the caller does; it throws for what isn't there. */
exports.check = async function check(load) {
  const library = await load('acme-mail');
  await checkWork(library);
  const expected = process.env.EXPECTED;
  if (expected === 'nest-lens') {
    await checkGroups(library, { api: await load('@opentelemetry/api'), lens: await load('nest-lens/core') });
  } else {
    assert.equal(isInstalled('@opentelemetry/api'), false);
    assert.equal(isInstalled('nest-lens'), expected === 'nest-lens alone');
  }
  if (expected === 'nest-lens alone') {
    // F1-F3: the fallbacks of a NestLens without anything beside it.
    const fallbacks = await load('nest-lens/fallbacks');
    const work = () => 'work';
    assert.equal(fallbacks.traceFn('mail_send', 'mail')(work), work);
    assert.equal(fallbacks.isSpanGroupEnabled('mail_send'), false);
    fallbacks.SpanRegistry.register('acme_mail', ['mail_send']);
    assert.deepEqual([...fallbacks.SpanRegistry.groups()], []);
    await assert.rejects(async () => load('nest-lens/core'), { code: /MODULE_NOT_FOUND$/ });
  }
  appendFileSync(process.env.NEST_LENS_COMPAT_REPORT, `${JSON.stringify({ node: process.versions.node })}\n`);
};
