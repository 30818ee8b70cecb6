import type { ReadableSpan, SpanExporter } from '@opentelemetry/sdk-trace-base';

/** An exporter that keeps what it got beyond its shutdown, which the SDK's in-memory exporter forgets then. */
export class KeepingExporter implements SpanExporter {
  readonly spans: ReadableSpan[] = [];
  /** What was called, in order: `export`, `forceFlush`, `shutdown`. */
  readonly calls: string[] = [];

  export(spans: ReadableSpan[], done: (result: { code: number }) => void): void {
    this.calls.push('export');
    this.spans.push(...spans);
    done({ code: 0 });
  }

  forceFlush(): Promise<void> {
    this.calls.push('forceFlush');
    return Promise.resolve();
  }

  shutdown(): Promise<void> {
    this.calls.push('shutdown');
    return Promise.resolve();
  }

  get names(): string[] {
    return this.spans.map((span) => span.name);
  }
}
