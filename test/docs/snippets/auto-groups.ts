import { Injectable, Module } from '@nestjs/common';
import { NestLensModule, NoSpanGroup, SpanGroup } from 'nest-lens';
import { OrdersController } from './span-group-decorator.js';

@Injectable()
export class PriceTable {
  lookUp(id: string): number {
    return id.length;
  }
}

export const asked = () =>
  // #region auto-groups
  NestLensModule.forRoot({
    autoGroups: { handlers: 'handlers', enhancers: 'pipeline', providers: 'services', exclude: [PriceTable] },
  });
// #endregion

// #region module-group
@SpanGroup('orders')
@Module({ controllers: [OrdersController] })
export class OrdersModule {}
// #endregion

// #region left-alone
@NoSpanGroup() // a million calls a second
@Injectable()
export class Tokenizer {
  next(text: string, at: number): number {
    return text.indexOf(' ', at);
  }
}
// #endregion
