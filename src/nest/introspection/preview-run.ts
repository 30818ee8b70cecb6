import type { SpanPreview } from '../../core/groups/span-preview.js';
import type { AskedPreview } from './preview-body.js';
import { type PreviewReport, reportPreview } from './preview-report.js';
import { SpanSizes } from './span-sizes.js';
import type { SpanSite } from './span-sites.js';

/** One preview, which ends when its time is over or when it is stopped. */
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
    // Without groups to count, it ends at once.
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

  /** Ends the preview before its time. A second call does nothing. */
  end(): void {
    this.preview.end();
  }
}
