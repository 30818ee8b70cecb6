import type { ExportCounts } from '../state/telemetry-state.js';
import { ExportReport } from './export-report.js';
import { GuardedExporter } from './guarded-exporter.js';
import { GuardedProcessor } from './guarded-processor.js';
import { replaceExporter } from '../private-fields/private-fields.js';
import type { SpanExporterLike, SpanProcessorLike } from './setup-options.js';
import { allEnded } from './with-timeout.js';

/** The span processors and exporters of one SDK. If one fails, the others go on. It knows the exports under way. */
export class SpanPipeline {
  private readonly counts: ExportCounts = { lastExportAt: undefined, spansExported: 0, spansLost: 0 };
  /** The guards, by exporter and by facade, because an exporter may be given in two ways. */
  private readonly exporters = new Map<SpanExporterLike, GuardedExporter>();
  private readonly processors = new Map<SpanProcessorLike, GuardedProcessor>();

  /** The counts of exported spans; undefined if no exporter is visible. */
  get exports(): ExportCounts | undefined {
    return this.exporters.size > 0 ? this.counts : undefined;
  }

  guardExporter(exporter: SpanExporterLike): SpanExporterLike {
    return this.guardedExporter(exporter).facade;
  }

  private guardedExporter(exporter: SpanExporterLike): GuardedExporter {
    let guarded = this.exporters.get(exporter);
    if (guarded === undefined) {
      guarded = new GuardedExporter(exporter, new ExportReport(this.counts));
      this.exporters.set(exporter, guarded).set(guarded.facade, guarded);
    }
    return guarded;
  }

  /**
   * Guards a processor, and its exporter if that is visible.
   *
   * @param isGiven whether the application made it
   */
  guardProcessor(processor: SpanProcessorLike, isGiven = false): GuardedProcessor {
    let guarded = this.processors.get(processor);
    if (guarded === undefined) {
      const hasExporter = replaceExporter<SpanExporterLike>(processor, (exporter) =>
        this.guardExporter(exporter),
      );
      guarded = new GuardedProcessor(processor, hasExporter, this.counts, isGiven);
      this.processors.set(processor, guarded);
    }
    return guarded;
  }

  /**
   * Guards the processors that the SDK has made, in the SDK's own list.
   *
   * @returns whether the exporter of each is visible
   */
  adopt(processors: SpanProcessorLike[]): boolean {
    const guarded = processors.map((processor) => this.guardProcessor(processor));
    processors.splice(0, processors.length, ...guarded);
    return guarded.every(({ hasExporter }) => hasExporter);
  }

  /** Waits for the exports under way. If one of them has failed, it rejects when all have ended. */
  exportsSettled(): Promise<void> {
    return allEnded([this.underWaySettled(), this.heldBackSettled()]);
  }

  private underWaySettled(): Promise<void> {
    return allEnded([...this.exporters.values()].map((exporter) => exporter.settled()));
  }

  /** Waits for batches that are sent when the resource of their spans is complete. */
  private async heldBackSettled(): Promise<void> {
    const pending = [...this.processors.values()].filter(({ isResourcePending }) => isResourcePending);
    if (pending.length === 0) return;
    await Promise.allSettled(pending.map((processor) => processor.resourceComplete()));
    await this.underWaySettled();
  }

  /**
   * Waits for the shutdowns that have begun, and shuts down each exporter, because a processor whose last flush fails
   * doesn't. If one of them has failed, it rejects when all have ended.
   */
  async ended(): Promise<void> {
    const failures = await Promise.all([...this.processors.values()].map(async ({ ended }) => ended));
    await allEnded([
      ...[...this.exporters.values()].map((exporter) => exporter.shutdown()),
      ...failures.filter((error) => error !== undefined).map((error) => Promise.reject(error as Error)),
    ]);
  }

  /** Shuts down the processors and exporters that the SDK hasn't shut down, and waits for them. */
  shutdown(): Promise<void> {
    for (const processor of this.processors.values()) void processor.shutdown();
    return this.ended();
  }

  /** Nothing waits any longer: exports under way count as failed. */
  release(): void {
    for (const exporter of this.exporters.values()) exporter.giveUp();
  }
}
