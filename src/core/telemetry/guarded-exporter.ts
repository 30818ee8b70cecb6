import type { ExportReport } from './export-report.js';
import type { SpanExporterLike } from './setup-options.js';
import { withoutTracing } from './suppressed-context.js';
import { allEnded } from './with-timeout.js';

type Done = Parameters<SpanExporterLike['export']>[1];
type ExportResult = Parameters<Done>[0];

/** The SDK's `ExportResultCode`. */
const SUCCESS = 0;
const FAILED = 1;

/**
 * An export without an answer counts as failed after this time, in milliseconds, so that a lost callback doesn't hold up
 * every flush.
 */
const MAX_EXPORT_MS = 30_000;

interface RunningExport {
  readonly ended: Promise<ExportResult>;
  readonly end: (result: ExportResult) => void;
}

function failure(error: unknown): ExportResult {
  return { code: FAILED, error: error instanceof Error ? error : new Error(String(error)) };
}

/**
 * Knows the exports of an exporter that are under way. The SDK's own flush and shutdown don't wait for a batch that a timer
 * has sent. So without this class, an application that closes during such an export would lose the batch. See
 * https://github.com/open-telemetry/opentelemetry-js/issues/5602
 */
export class GuardedExporter {
  /** The object for the SDK and its processors: the exporter with methods of ours. The exporter itself isn't changed. */
  readonly facade: SpanExporterLike;
  private readonly running = new Set<RunningExport>();
  private ended: Promise<void> | undefined;

  constructor(
    private readonly exporter: SpanExporterLike,
    private readonly report: ExportReport,
  ) {
    const ours = new Map<string | symbol, unknown>([
      ['export', (spans: unknown[], done: Done) => this.export(spans, done)],
      ['shutdown', () => this.shutdown()],
    ]);
    if (typeof exporter.forceFlush === 'function')
      ours.set('forceFlush', () => withoutTracing(() => exporter.forceFlush?.()));
    // The proxy's target has no properties of its own, so that this works for a frozen exporter too.
    this.facade = new Proxy(Object.create(exporter) as SpanExporterLike, {
      get(_, name) {
        const value: unknown = ours.get(name) ?? Reflect.get(exporter, name);
        // Methods are bound, because an object with private fields doesn't work through a proxy.
        return typeof value === 'function' ? (value.bind(exporter) as unknown) : value;
      },
      set: (_, name, value) => Reflect.set(exporter, name, value),
    });
  }

  /** An exporter that throws or rejects has failed. Without this, an error from the SDK's timer would end the process. */
  private export(spans: unknown[], done: Done): void {
    const { end } = this.begin(spans.length, done);
    const fail = (error: unknown): void => end(failure(error));
    try {
      const returned: unknown = withoutTracing(() => this.exporter.export(spans, end));
      Promise.resolve(returned).catch(fail);
    } catch (error) {
      fail(error);
    }
  }

  private begin(spans: number, done: Done): RunningExport {
    let settle!: (result: ExportResult) => void;
    const ended = new Promise<ExportResult>((resolve) => (settle = resolve));
    const end = (result: ExportResult | undefined): void => {
      if (!this.running.delete(run)) return;
      clearTimeout(timer);
      const known = result ?? failure('the exporter gave no result');
      if (known.code === SUCCESS) this.report.succeeded(spans);
      else this.report.failed(spans, known.error ?? new Error('the exporter gave no reason'));
      settle(known);
      done(known);
    };
    const run: RunningExport = { ended, end };
    const timer = setTimeout(() => end(failure('the exporter has not answered in time')), MAX_EXPORT_MS);
    timer.unref();
    this.running.add(run);
    return run;
  }

  /** Waits for the exports under way. If one of them has failed, it rejects when all have ended. */
  async settled(): Promise<void> {
    const results = await Promise.all([...this.running].map(({ ended }) => ended));
    const failed = results.find(({ code }) => code !== SUCCESS);
    if (failed !== undefined) throw failed.error ?? new Error('spans could not be exported');
  }

  /** Ends the exports under way as failed, so that no timer of the SDK waits for them. */
  giveUp(): void {
    this.report.end();
    for (const { end } of this.running) end(failure('telemetry was shut down'));
  }

  /** Shuts down once, although an exporter may be given in two ways, and never in the middle of an export. */
  shutdown(): Promise<void> {
    return (this.ended ??= this.end());
  }

  private async end(): Promise<void> {
    const exported = this.settled();
    await Promise.allSettled([exported]);
    await allEnded([exported, withoutTracing(async () => this.exporter.shutdown())]);
  }
}
