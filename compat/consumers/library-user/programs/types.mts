import { mailSpans, sendMail } from 'acme-mail';

export const group: 'mail_send' = mailSpans.group('mail_send');
// @ts-expect-error: no such group
mailSpans.group('mail_sent');
export const text: string = (await sendMail('ada@example.org')).text;
