import { randomUUID } from 'node:crypto';
import { SpanKind } from '@opentelemetry/api';
import { traceFn } from 'nest-lens';
import { paymentsSpans } from './payments.span-groups.js';

/**
 * Asks the card network for the money, and resolves to its authorisation, or to `undefined` when it declines.
 *
 * The network isn't real, its one rule is: a card number ends in the check digit that Luhn's formula gives.
 */
export const authoriseCard = traceFn(paymentsSpans.group('card_network'), 'card_network.authorise', {
  kind: SpanKind.CLIENT,
  attributes: () => ({ 'peer.service': 'card-network' }),
})(async (cardNumber: string): Promise<string | undefined> =>
  hasValidCheckDigit(cardNumber) ? randomUUID() : undefined,
);

function hasValidCheckDigit(cardNumber: string): boolean {
  if (!/^\d{12,19}$/.test(cardNumber)) return false;
  const sum = [...cardNumber].reverse().reduce((total, digit, index) => {
    const value = Number(digit) * (index % 2 === 0 ? 1 : 2);
    return total + (value > 9 ? value - 9 : value);
  }, 0);
  return sum % 10 === 0;
}
