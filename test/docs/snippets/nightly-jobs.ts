// #region nightly-jobs
import { Injectable } from '@nestjs/common';
import { Cron } from '@nestjs/schedule';
import { SpanGroup } from 'nest-lens';

@Injectable()
export class NightlyJobs {
  @Cron('0 3 * * *')
  @SpanGroup('nightly')
  async report() {
    return 'sent';
  }
}
// #endregion
