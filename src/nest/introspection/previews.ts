import { ConflictException } from '@nestjs/common';
import { beginPreview } from '../../core/groups/span-preview.js';
import type { AskedPreview } from './preview-body.js';
import { PreviewRun } from './preview-run.js';
import type { SpanSites } from './span-sites.js';

/** The token for the previews of one application. A `Symbol.for`, like every token. */
export const PREVIEWS = Symbol.for('nest-lens.previews');

/** The previews of one application. A process runs one preview at a time. */
export class Previews {
  private running: PreviewRun | undefined;

  constructor(
    private readonly sites: SpanSites,
    private readonly isClosing: () => boolean,
  ) {}

  /** @throws ConflictException while another preview runs, and while the application closes */
  begin(asked: AskedPreview): PreviewRun {
    if (this.isClosing()) throw new ConflictException('The application is closing.');
    const preview = beginPreview(asked.groups);
    if (preview === undefined) {
      throw new ConflictException(
        'A preview is under way in this process. Wait until it ends, or stop its client, which ends it.',
      );
    }
    this.running = new PreviewRun(asked, preview, this.sites.list());
    return this.running;
  }

  /** Ends the running preview, if this application has begun it. */
  end(): void {
    this.running?.end();
  }
}
