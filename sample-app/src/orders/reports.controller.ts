import { Controller, Get } from '@nestjs/common';
import { SpanGroup } from 'nest-lens';
import { DatabaseService } from '../database/database.service.js';
import { ordersSpans } from './orders.span-groups.js';

@Controller('reports')
export class ReportsController {
  constructor(private readonly database: DatabaseService) {}

  /** The route that fails: its table was never made, so Postgres refuses and the answer is a 500. */
  @Get('revenue')
  @SpanGroup(ordersSpans.group('report'), { name: 'reports.revenue' })
  revenue(): Promise<unknown[]> {
    return this.database.query('SELECT revenue', 'select sum(amount_cents) from monthly_revenue');
  }
}
