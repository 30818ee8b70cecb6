// #region library
import { defineSpanGroups, managedSpan } from 'nest-lens/core';

export const mailSpans = defineSpanGroups({
  namespace: 'acme_mail',
  groups: ['mail_render', 'mail_send'],
  presets: { default: ['mail_send'], per_request: ['mail_render', 'mail_send'] },
});
mailSpans.register(); // at import: before any application sets up

export function sendMail(to: string) {
  return managedSpan(mailSpans.group('mail_send'), 'mail.send', async () => `sent to ${to}`);
}
// #endregion
