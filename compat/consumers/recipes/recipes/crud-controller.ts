// #region crud-controller
import { Controller, Get, mixin, type Type } from '@nestjs/common';
import { SpanGroup } from 'nest-lens';

export interface Lists {
  list(): string[];
}

export function CrudController(path: string, group: string): Type<Lists> {
  @Controller(path)
  class Crud implements Lists {
    @Get()
    @SpanGroup(group, { name: `${path}.list` }) // the class gets a name of its own in each mixin
    list() {
      return [path];
    }
  }
  return mixin(Crud);
}

@Controller('invoices')
export class InvoicesController extends CrudController('invoices', 'invoices') {}
// #endregion
