/** Errors of which `EXPORT_FAILED` has said, or would say again after ten minutes. A flush that fails for one has nothing new. */
const said = new WeakSet<object>();

export function noteSaidFailure(error: unknown): void {
  if (typeof error === 'object' && error !== null) said.add(error);
}

export function isSaidFailure(error: unknown): boolean {
  return typeof error === 'object' && error !== null && said.has(error);
}
