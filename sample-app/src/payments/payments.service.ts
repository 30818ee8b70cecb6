import { Injectable } from '@nestjs/common';
import { SpanGroup } from 'nest-lens';
import type { SqlConnection } from '../database/sql-connection.js';
import { authoriseCard } from './card-network.js';
import { PaymentDeclinedException } from './payment-declined.exception.js';
import { paymentsSpans } from './payments.span-groups.js';

@Injectable()
export class PaymentsService {
  /**
   * Charges the card and books the payment, within the caller's transaction.
   * @returns the number of the payment
   * @throws PaymentDeclinedException
   */
  @SpanGroup(paymentsSpans.group('payment'), {
    name: 'payments.charge',
    // The amount only. The card number is the second argument, and no span ever sees it.
    attributes: (_connection: SqlConnection, _cardNumber: string, amountCents: number) => ({
      'payment.amount_cents': amountCents,
    }),
  })
  async charge(connection: SqlConnection, cardNumber: string, amountCents: number): Promise<number> {
    const authorisation = await authoriseCard(cardNumber);
    if (authorisation === undefined) throw new PaymentDeclinedException();
    const [payment] = await connection.query<{ id: number }>(
      'INSERT payments',
      'insert into payments (amount_cents, authorisation) values ($1, $2) returning id',
      [amountCents, authorisation],
    );
    return payment!.id;
  }
}
