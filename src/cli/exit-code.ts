/** The exit codes of `nest-lens`; deployments check them. */
export const DONE = 0;
export const FAILED = 1;
/** A name that was asked for is not registered in the process. */
const PENDING = 2;

/** The exit code after an answer of the endpoint. */
export function exitCodeOf({ pending = [] }: { readonly pending?: readonly string[] }): number {
  return pending.length > 0 ? PENDING : DONE;
}
