import { defineSpanGroups, managedSpan as span } from 'nest-lens/core';

export const shop = defineSpanGroups({ namespace: 'shop', groups: ['checking_out', 'mailSend'] });

export function read(group, id) {
  span(group, 'read', { attributes: { id } }, async () => id);
}
