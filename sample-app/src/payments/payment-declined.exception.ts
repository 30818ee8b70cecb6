import { HttpException, HttpStatus } from '@nestjs/common';

export class PaymentDeclinedException extends HttpException {
  constructor() {
    super('The card was declined', HttpStatus.PAYMENT_REQUIRED);
  }
}
