import type { ExportCounts } from '../state/state-shape.js';
import { ExportReport } from './export-report.js';
import { GuardedExporter } from './guarded-exporter.js';
import { GuardedProcessor } from './guarded-processor.js';
import { replaceExporter } from './private-fields.js';
import type { SpanExporterLike, SpanProcessorLike } from './setup-options.js';
import { allEnded } from './with-timeout.js';

/** The span processors and exporters of one SDK. One that fails costs itself only, and what is under way is known. */
export class SpanPipeline {
  private readonly counts: ExportCounts = { lastExportAt: undefined, spansExported: 0, spansLost: 0 };
  /** By the exporter, which may be given in two ways, and by what stands for it. */
  private readonly exporters = new Map<SpanExporterLike, GuardedExporter>();
  private readonly processors = new Map<SpanProcessorLike, GuardedProcessor>();

  /** What became of the spans; undefined where no exporter is seen. */
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
   * Guards a processor, and the exporter that it keeps, if it shows one.
   *
   * @param isGiven whether the application made it
   */
  guardProcessor(processor: SpanProcessorLike, isGiven = false): GuardedProcessor {
    let guarded = this.processors.get(processor);
    if (guarded === undefined) {
      const hasExporter = replaceExporter(processor, (exporter) => this.guardExporter(exporter));
      guarded = new GuardedProcessor(processor, hasExporter, this.counts, isGiven);
      this.processors.set(processor, guarded);
    }
    return guarded;
  }

  /**
   * Guards the processors that the SDK has made by itself, in the list in which it keeps them.
   *
   * @returns whether each of them has shown its exporter
   */
  adopt(processors: SpanProcessorLike[]): boolean {
    const guarded = processors.map((processor) => this.guardProcessor(processor));
    processors.splice(0, processors.length, ...guarded);
    return guarded.every(({ hasExporter }) => hasExporter);
  }

  /** Waits for the exports under way; rejects, when all of them have ended, if one of them has failed. */
  exportsSettled(): Promise<void> {
    return allEnded([this.underWaySettled(), this.heldBackSettled()]);
  }

  private underWaySettled(): Promise<void> {
    return allEnded([...this.exporters.values()].map((exporter) => exporter.settled()));
  }

  /** Those that come under way when the resource of their spans is complete. */
  private async heldBackSettled(): Promise<void> {
    const pending = [...this.processors.values()].filter(({ isResourcePending }) => isResourcePending);
    if (pending.length === 0) return;
    await Promise.allSettled(pending.map((processor) => processor.resourceComplete()));
    await this.underWaySettled();
  }

  /**
   * Waits for the shutdowns that have begun, and shuts down each exporter: a processor whose last flush fails doesn't get to
   * it. Rejects, when all of them have ended, if one of them has failed.
   */
  async ended(): Promise<void> {
    const failures = await Promise.all([...this.processors.values()].map(async ({ ended }) => ended));
    await allEnded([
      ...[...this.exporters.values()].map((exporter) => exporter.shutdown()),
      ...failures.filter((error) => error !== undefined).map((error) => Promise.reject(error as Error)),
    ]);
  }

  /** Shuts down what hasn't been told to by the SDK, and waits for it. */
  shutdown(): Promise<void> {
    for (const processor of this.processors.values()) void processor.shutdown();
    return this.ended();
  }

  /** Nobody waits any longer: exports under way count as failed. */
  release(): void {
    for (const exporter of this.exporters.values()) exporter.giveUp();
  }
}
