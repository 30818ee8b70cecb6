// #region propagation
import { context } from '@opentelemetry/api';
import { extractContext, injectContext, managedSpan } from 'nest-lens';

interface Message {
  headers: Record<string, string>;
  body: string;
}

export function toMessage(body: string): Message {
  const headers: Record<string, string> = {};
  injectContext(headers); // { traceparent: '00-…' }
  return { headers, body };
}

export function handle(message: Message) {
  return context.with(extractContext(message.headers), () =>
    managedSpan('jobs', 'jobs.handle', async () => `done: ${message.body}`),
  );
}
// #endregion
