const { mailSpans, sendMail } = require('acme-mail');

void sendMail('ada@example.org').then((mail) => {
  console.log(JSON.stringify([mailSpans.group('mail_send'), mail]));
  // NestLens has the groups if it is in the bundle or beside it. The slot alone may be left from a start that failed half-way.
  const state = globalThis[Symbol.for('nest-lens.state.1')];
  console.log(state?.namespaces.has('acme_mail') ? 'NestLens' : 'no NestLens');
});
