import { defineSpanGroups } from 'nest-lens';

/** What payments can emit: `default` has one span a payment, `per_request` adds the call to the card network. */
export const paymentsSpans = defineSpanGroups({
  namespace: 'payments',
  groups: ['payment', 'card_network'],
  presets: { default: ['payment'], per_request: ['payment', 'card_network'] },
});
