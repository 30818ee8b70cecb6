/**
 * Errors that `EXPORT_FAILED` has reported, or would report after ten minutes. A flush that fails with one of them says
 * nothing new.
 */
const said = new WeakSet<object>();

export function noteSaidFailure(error: unknown): void {
  if (typeof error === 'object' && error !== null) said.add(error);
}

export function isSaidFailure(error: unknown): boolean {
  return typeof error === 'object' && error !== null && said.has(error);
}
