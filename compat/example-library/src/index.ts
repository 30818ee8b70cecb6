import { lens } from './lens.cjs';

export const mailSpans = lens.defineSpanGroups({
  namespace: 'acme_mail',
  groups: ['mail_render', 'mail_send'],
  presets: { default: ['mail_send'], per_request: ['mail_render', 'mail_send'] },
});
mailSpans.register(); // at import: before any application sets up

export async function sendMail(to: string): Promise<{ to: string; text: string }> {
  return lens.managedSpan(mailSpans.group('mail_send'), 'mail.send', async (span) => {
    const [, domain] = to.split('@');
    if (domain === undefined) throw new TypeError(`'${to}' is no address.`);
    span?.setAttribute('mail.domain', domain);
    const text = lens.managedSpan(mailSpans.group('mail_render'), 'mail.render', () => `Dear ${to}`);
    return { to, text };
  });
}
