import { diag } from '@opentelemetry/api';
import { allEnded, withTimeout } from './with-timeout.js';
import type { SpanExporterLike, SpanProcessorLike } from './setup-options.js';
import { reportSdkFailure } from '../spans/span-plan.js';

type Done = Parameters<SpanExporterLike['export']>[1];
type ExportResult = Parameters<Done>[0];

/** The SDK's `ExportResultCode`. */
const SUCCESS = 0;
const FAILED = 1;

const NO_ANSWER = 'the exporter has not answered in time';

/** For how long an export is waited for, in milliseconds, where its processor doesn't say; the SDK's default. */
const LONGEST_EXPORT_MS = 30_000;

interface RunningExport {
  readonly began: number;
  readonly ended: Promise<ExportResult>;
  readonly end: (result: ExportResult) => void;
}

function failure(error: unknown): ExportResult {
  return { code: FAILED, error: error instanceof Error ? error : new Error(String(error)) };
}

function isPromise(returned: unknown): returned is PromiseLike<unknown> {
  return typeof (returned as Partial<PromiseLike<unknown>> | null | undefined)?.then === 'function';
}

/**
 * Knows which exports are under way: a batch that the processor's timer has sent isn't waited for by the processor's own
 * flush and shutdown. An exporter that throws or rejects, where it should report failure, would take the process down from
 * that timer; here it has failed to export.
 */
class GuardedExporter implements SpanExporterLike {
  private readonly running = new Set<RunningExport>();
  private ended: Promise<void> | undefined;
  /**
   * After which time the processor goes on without an export, so that nobody waits for it any longer: an exporter that loses a
   * callback would cost each flush its whole limit.
   */
  longestMs = LONGEST_EXPORT_MS;

  /** Its own methods: those that the SDK calls may be ours by then. */
  private readonly own: SpanExporterLike;

  /** Whether the exporter's methods are ours. */
  isInPlace = false;

  constructor(exporter: SpanExporterLike) {
    this.own = {
      export: exporter.export.bind(exporter),
      forceFlush: exporter.forceFlush?.bind(exporter),
      shutdown: exporter.shutdown.bind(exporter),
    };
  }

  export(spans: unknown[], done: Done): void {
    const { end } = this.begin(done);
    const fail = (error: unknown): void => end(failure(error));
    try {
      const returned: unknown = this.own.export(spans, end);
      if (isPromise(returned)) returned.then(undefined, fail);
    } catch (error) {
      fail(error);
    }
  }

  private begin(done: Done): RunningExport {
    let settle!: (result: ExportResult) => void;
    let isRunning = true;
    const run: RunningExport = {
      began: performance.now(),
      ended: new Promise((resolve) => (settle = resolve)),
      end: (result: ExportResult | undefined) => {
        if (!isRunning) return;
        isRunning = false;
        this.running.delete(run);
        const known = result ?? failure('the exporter gave no result');
        settle(known);
        try {
          done(known);
        } catch (error) {
          diag.error('A span processor failed to take the result of an export', error);
        }
      },
    };
    this.forgetOldest();
    this.running.add(run);
    return run;
  }

  private forgetOldest(): void {
    const oldest = performance.now() - this.longestMs;
    for (const { began, end } of this.running) {
      if (began > oldest) return;
      end(failure(NO_ANSWER));
    }
  }

  /** Waits for what is under way now; rejects, when all of it has ended, if an export has failed. */
  async settled(): Promise<void> {
    this.forgetOldest();
    const results = await Promise.all([...this.running].map((run) => this.resultOf(run)));
    const failed = results.find(({ code }) => code !== SUCCESS);
    if (failed !== undefined) throw failed.error ?? new Error('spans could not be exported');
  }

  private async resultOf({ began, ended }: RunningExport): Promise<ExportResult> {
    const result = await withTimeout(began + this.longestMs - performance.now(), ended);
    return result === 'time is up' ? failure(NO_ANSWER) : result;
  }

  /** Ends what is under way as failed. */
  giveUp(): void {
    for (const { end } of this.running) end(failure(NO_ANSWER));
  }

  async forceFlush(): Promise<void> {
    await this.own.forceFlush?.();
  }

  /** Once, and not in the middle of an export. */
  shutdown(): Promise<void> {
    return (this.ended ??= this.end());
  }

  private async end(): Promise<void> {
    const exported = this.settled();
    await Promise.allSettled([exported]);
    await allEnded([exported, this.shutDownExporter()]);
  }

  private async shutDownExporter(): Promise<void> {
    await this.own.shutdown();
  }
}

function reportFailure(span: { readonly name?: string }, error: unknown): void {
  reportSdkFailure(span.name ?? 'without a name', error);
}

/** An async `onStart` or `onEnd` that rejects is no reason to go down either. */
function survive(span: { readonly name?: string }, returned: unknown): void {
  if (isPromise(returned)) returned.then(undefined, (error: unknown) => reportFailure(span, error));
}

/** The SDK tells processors one after another, and stops at the first that throws; the rest would not hear of it. */
class GuardedProcessor implements SpanProcessorLike {
  readonly onEnding?: (span: never) => void;
  /** The shutdown, once it has begun. Never rejects: the SDK would not wait for the other processors, nor for metrics. */
  ended: Promise<void> | undefined;
  readonly failures: unknown[] = [];

  constructor(
    private readonly processor: SpanProcessorLike & { onEnding?(span: never): void },
    private readonly exporter: GuardedExporter | undefined,
  ) {
    if (typeof processor.onEnding === 'function') {
      this.onEnding = (span) => {
        try {
          survive(span, processor.onEnding?.(span));
        } catch (error) {
          reportFailure(span, error);
        }
      };
    }
  }

  onStart(span: never, parentContext: never): void {
    try {
      survive(span, this.processor.onStart(span, parentContext));
    } catch (error) {
      reportFailure(span, error);
    }
  }

  onEnd(span: never): void {
    try {
      survive(span, this.processor.onEnd(span));
    } catch (error) {
      reportFailure(span, error);
    }
  }

  async forceFlush(): Promise<void> {
    await this.processor.forceFlush();
  }

  shutdown(): Promise<void> {
    return (this.ended ??= this.end());
  }

  private async end(): Promise<void> {
    await this.attempt(() => this.processor.shutdown());
    // A processor whose last flush fails doesn't get to it.
    await this.attempt(() => this.exporter?.shutdown());
  }

  private async attempt(step: () => Promise<void> | undefined): Promise<void> {
    try {
      await step();
    } catch (error) {
      this.failures.push(error);
    }
  }
}

/** Stands between an SDK and its span processors and exporters, so that one that fails costs itself only. */
export class PipelineGuard {
  /** By the exporter behind it: one may be given in two ways. */
  private readonly exporters = new Map<SpanExporterLike, GuardedExporter>();
  private readonly restorers: (() => void)[] = [];
  private readonly processors: GuardedProcessor[] = [];

  guardExporter(exporter: SpanExporterLike): SpanExporterLike {
    return this.guardedExporter(exporter);
  }

  private guardedExporter(exporter: SpanExporterLike): GuardedExporter {
    let guarded = this.exporters.get(exporter);
    if (guarded === undefined) this.exporters.set(exporter, (guarded = new GuardedExporter(exporter)));
    return guarded;
  }

  guardProcessor(processor: SpanProcessorLike): SpanProcessorLike {
    const known = this.processors.find((guarded) => guarded === processor);
    if (known !== undefined) return known;
    const guarded = new GuardedProcessor(processor, this.guardExporterOf(processor));
    this.processors.push(guarded);
    return guarded;
  }

  /**
   * The SDK's processors don't show their exporter, and those that its variables ask for are made inside. They keep it in
   * the same field in all versions, and their time limit in another; one that has no such field does without. The exporter
   * stays where it is, since a processor of the application's own may know it better; its three methods are ours meanwhile.
   */
  private guardExporterOf(processor: SpanProcessorLike): GuardedExporter | undefined {
    const { _exporter: exporter, _exportTimeoutMillis: longestMs } = processor as {
      _exporter?: SpanExporterLike | GuardedExporter | null;
      _exportTimeoutMillis?: unknown;
    };
    if (typeof exporter?.export !== 'function' || typeof exporter.shutdown !== 'function') return undefined;
    // Given beside processors, it is one already.
    const isOurs = exporter instanceof GuardedExporter;
    const guarded = isOurs ? exporter : this.guardedExporter(exporter);
    if (typeof longestMs === 'number') guarded.longestMs = longestMs;
    if (!isOurs) this.replaceMethods(exporter, guarded);
    return guarded;
  }

  private replaceMethods(exporter: SpanExporterLike, guarded: GuardedExporter): void {
    if (guarded.isInPlace) return;
    guarded.isInPlace = true;
    for (const method of ['export', 'forceFlush', 'shutdown'] as const) {
      if (typeof exporter[method] !== 'function') continue;
      const former = Object.getOwnPropertyDescriptor(exporter, method);
      const value = (guarded[method] as (...args: unknown[]) => unknown).bind(guarded);
      if (!Reflect.defineProperty(exporter, method, { configurable: true, writable: true, value })) continue;
      this.restorers.push(() => {
        if (exporter[method] !== value) return;
        if (former === undefined) Reflect.deleteProperty(exporter, method);
        else Reflect.defineProperty(exporter, method, former);
      });
    }
  }

  /** Waits for the exports under way; rejects, when all of them have ended, if one of them has failed. */
  exportsSettled(): Promise<void> {
    return allEnded([...this.exporters.values()].map((exporter) => exporter.settled()));
  }

  /** Waits for the shutdowns that have begun; rejects, when all of them have ended, if one of them has failed. */
  async shutdownsSettled(): Promise<void> {
    await Promise.all(this.processors.map(async ({ ended }) => ended));
    for (const { failures } of this.processors) for (const error of failures) throw error;
  }

  /**
   * Nobody waits any longer: exports under way count as failed, so that no timer of the SDK waits for them either. Exporters
   * get their own methods back when the shutdowns are done with them.
   */
  release(): void {
    for (const exporter of this.exporters.values()) exporter.giveUp();
    void Promise.allSettled(this.processors.map(async ({ ended }) => ended)).then(() => {
      for (const restore of this.restorers.splice(0)) restore();
    });
  }
}
