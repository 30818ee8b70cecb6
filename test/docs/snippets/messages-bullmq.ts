// #region messages-bullmq
import { InjectQueue, Processor, WorkerHost } from '@nestjs/bullmq';
import { Injectable } from '@nestjs/common';
import { SpanKind } from '@opentelemetry/api';
import type { Job, Queue } from 'bullmq';
import { injectContext, SpanGroup } from 'nest-lens';

interface Mail {
  headers: object;
  to: string;
}

@Injectable()
export class MailQueue {
  constructor(@InjectQueue('mails') private readonly queue: Queue<Mail>) {}

  send(to: string) {
    const headers = {};
    injectContext(headers);
    return this.queue.add('mail', { headers, to });
  }
}

// Every queue worker of the application extends it, and is in the group.
@SpanGroup('jobs', { kind: SpanKind.CONSUMER, carrier: (job: Job<Mail>) => job.data.headers })
export abstract class TracedWorker extends WorkerHost {}

@Processor('mails')
export class MailWorker extends TracedWorker {
  async process(job: Job<Mail>) {
    return `sent to ${job.data.to}`;
  }
}
// #endregion
