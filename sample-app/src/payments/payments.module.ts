import { Module } from '@nestjs/common';
import { NestLensModule } from 'nest-lens';
import { PaymentsService } from './payments.service.js';
import { paymentsSpans } from './payments.span-groups.js';

@Module({
  imports: [NestLensModule.forFeature(paymentsSpans)],
  providers: [PaymentsService],
  exports: [PaymentsService],
})
export class PaymentsModule {}
