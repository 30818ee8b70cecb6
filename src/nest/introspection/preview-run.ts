import type { SpanPreview } from '../../core/groups/span-preview.js';
import type { AskedPreview } from './preview-body.js';
import { type PreviewReport, reportPreview } from './preview-report.js';
import { SpanSizes } from './span-sizes.js';
import type { SpanSite } from './span-sites.js';

/** One preview, until its time is over or somebody ends it. */
export class PreviewRun {
  /** What was counted in all. */
  readonly done: Promise<PreviewReport>;
  private readonly from = performance.now();
  private readonly sizes: SpanSizes;

  constructor(
    private readonly asked: AskedPreview,
    private readonly preview: SpanPreview,
    sites: readonly SpanSite[],
  ) {
    this.sizes = new SpanSizes(sites);
    // With nothing to count there is nothing to wait for.
    const seconds = asked.groups.size === 0 ? 0 : asked.seconds;
    // A preview must not keep a process alive.
    const timer = setTimeout(() => preview.end(), seconds * 1_000).unref();
    this.done = preview.ended.then(() => {
      clearTimeout(timer);
      this.sizes.stop();
      return this.report();
    });
  }

  /** What was counted so far. */
  report(): PreviewReport {
    const { asked, preview } = this;
    const seconds = (performance.now() - this.from) / 1_000;
    return reportPreview({
      counts: preview.counts,
      seconds: asked.groups.size === 0 ? 0 : Math.min(seconds, asked.seconds),
      pending: asked.pending,
      sizeOf: (group, site) => this.sizes.of(group, site),
    });
  }

  /** Ends it before its time; called again it does nothing. */
  end(): void {
    this.preview.end();
  }
}
