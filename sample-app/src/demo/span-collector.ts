import type { tracing } from '@opentelemetry/sdk-node';

/** An exporter that keeps what it is given, also after its shutdown: the demo reads it when the shop has closed. */
export class SpanCollector implements tracing.SpanExporter {
  private readonly collected: tracing.ReadableSpan[] = [];

  /** In the order in which they started; an exporter gets them in the order in which they ended. */
  get spans(): tracing.ReadableSpan[] {
    return [...this.collected].sort(({ startTime: a }, { startTime: b }) => a[0] - b[0] || a[1] - b[1]);
  }

  export(spans: tracing.ReadableSpan[], done: Parameters<tracing.SpanExporter['export']>[1]): void {
    this.collected.push(...spans);
    done({ code: 0 });
  }

  async shutdown(): Promise<void> {}
}
