const { mailSpans, sendMail } = require('acme-mail');

void sendMail('ada@example.org').then((mail) => {
  console.log(JSON.stringify([mailSpans.group('mail_send'), mail]));
  // The slot that NestLens makes, if it is in the bundle or beside it.
  const state = globalThis[Symbol.for('nest-lens.state.1')];
  console.log(state === undefined ? 'no NestLens' : 'NestLens');
});
