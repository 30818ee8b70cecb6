import { ConflictException } from '@nestjs/common';
import { beginPreview } from '../../core/groups/span-preview.js';
import type { AskedPreview } from './preview-body.js';
import { PreviewRun } from './preview-run.js';
import type { SpanSites } from './span-sites.js';

/** Injects what previews of one application there are. A `Symbol.for`, as every token. */
export const PREVIEWS = Symbol.for('nest-lens.previews');

/** The previews of one application. There is one at a time in a process. */
export class Previews {
  private running: PreviewRun | undefined;

  constructor(
    private readonly sites: SpanSites,
    private readonly isClosing: () => boolean,
  ) {}

  /** @throws ConflictException while another one is under way, and while the application closes */
  begin(asked: AskedPreview): PreviewRun {
    if (this.isClosing()) throw new ConflictException('The application is closing.');
    const preview = beginPreview(asked.groups);
    if (preview === undefined) {
      throw new ConflictException(
        'A preview is under way in this process. Wait for its end, or end it: it ends with its client.',
      );
    }
    this.running = new PreviewRun(asked, preview, this.sites.list());
    return this.running;
  }

  /** Ends the one that is under way, if this application has begun it. */
  end(): void {
    this.running?.end();
  }
}
