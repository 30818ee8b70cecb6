/** How long a flush or shutdown may take, in milliseconds, unless the caller says otherwise. */
export const DEFAULT_TIMEOUT_MS = 5_000;
