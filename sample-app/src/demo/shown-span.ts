import type { tracing } from '@opentelemetry/sdk-node';

/** What the demo shows of a span: of one that the SDK made in this process, or that another process has sent. */
export type ShownSpan = Pick<
  tracing.ReadableSpan,
  'name' | 'spanContext' | 'parentSpanContext' | 'duration' | 'status' | 'attributes'
>;
