/** An error that ends a command with one line and exit code 1. */
export class CommandError extends Error {
  override readonly name = 'CommandError';
}
