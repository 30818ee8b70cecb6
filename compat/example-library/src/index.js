'use strict';

const { managedSpan, SpanRegistry } = require('./lens.js');

// At import: the groups are there before any application sets telemetry up.
SpanRegistry.register('acme_mail', ['mail_render', 'mail_send'], {
  default: ['mail_send'],
  per_request: ['mail_render', 'mail_send'],
});

exports.sendMail = async function sendMail(to) {
  return managedSpan('mail_send', 'mail.send', async (span) => {
    if (!to?.includes('@')) throw new TypeError(`'${to}' is no address.`);
    span?.setAttribute('mail.domain', to.split('@')[1]);
    const text = managedSpan('mail_render', 'mail.render', () => `Dear ${to}`);
    return { to, text };
  });
};
