// #region optional-lens
type Lens = Omit<typeof import('nest-lens/fallbacks'), 'SpanGroup'>;

async function loadLens(): Promise<Lens> {
  try {
    return await import('nest-lens/core');
  } catch {
    return await import('nest-lens/fallbacks');
  }
}

export const { managedSpan, SpanRegistry } = await loadLens();

SpanRegistry.register('acme_mail', ['mail_send'], { default: ['mail_send'] });
// #endregion
