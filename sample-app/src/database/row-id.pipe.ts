import { BadRequestException, Injectable, type PipeTransform } from '@nestjs/common';

/** The upper end of a Postgres integer, which is what the shop's ids and quantities are. */
export const GREATEST_INTEGER = 2_147_483_647;

/** The id of a row, from a path. A number that no row can have is malformed, too: Postgres would refuse the query. */
@Injectable()
export class RowIdPipe implements PipeTransform<string, number> {
  transform(value: string): number {
    const id = Number(value);
    if (!/^-?\d+$/.test(value) || Math.abs(id) > GREATEST_INTEGER) {
      throw new BadRequestException(`An id is a whole number of at most ${GREATEST_INTEGER}`);
    }
    return id;
  }
}
