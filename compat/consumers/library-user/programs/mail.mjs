import { mailSpans, sendMail } from 'acme-mail';

console.log(JSON.stringify([mailSpans.group('mail_send'), await sendMail('ada@example.org')]));
// The slot that NestLens makes, if it is in the bundle or beside it.
const state = globalThis[Symbol.for('nest-lens.state.1')];
console.log(state === undefined ? 'no NestLens' : 'NestLens');
