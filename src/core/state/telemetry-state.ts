export interface TelemetryState {
  phase: 'off' | 'starting' | 'live' | 'stopping';
  /** Settles when a shutdown under way is done. */
  stopped: Promise<void> | undefined;
  exporting: boolean;
  /** Null while telemetry is off. */
  mode: 'own' | 'attach' | null;
  configuredSpec: string;
  specSource: string;
  /** The counts of exported spans; undefined if NestLens doesn't see the exporter. */
  exports: ExportCounts | undefined;
  /** The handle's `forceFlush`, while telemetry is live. */
  forceFlush: ((timeoutMs?: number) => Promise<void>) | undefined;
}

/** The counts of the spans that exporters got since the set-up. */
export interface ExportCounts {
  /** The time of the last export that arrived, in milliseconds since the epoch. */
  lastExportAt: number | undefined;
  spansExported: number;
  /** Spans in exports that failed, or dropped because the queue of a batch processor was full. */
  spansLost: number;
}

/** The object that a set-up flushes and shuts down: a running SDK, the application's provider, or nothing. */
export interface Pipeline {
  /** Whether spans are exported. */
  readonly isExporting: boolean;
  /** Undefined if NestLens doesn't see the exporter. */
  readonly exports: ExportCounts | undefined;
  /** Exports the waiting spans. */
  flushSpans(): Promise<void>;
  /** Exports the metrics. */
  flushMetrics(): Promise<void>;
  /** Shuts down, which exports the metrics once more. */
  shutdown(): Promise<void>;
  /** Takes back process-wide registrations, so that an SDK can be started again, even if this shutdown hangs. */
  release(): void;
}
