import { mailSpans, sendMail } from 'acme-mail';

console.log(JSON.stringify([mailSpans.group('mail_send'), await sendMail('ada@example.org')]));
// If NestLens is used, it knows the groups. If it could only be loaded in part, the slot is there without them.
const state = globalThis[Symbol.for('nest-lens.state.1')];
console.log(state?.namespaces.has('acme_mail') ? 'NestLens' : 'no NestLens');
