/** What the names of NestLens's variables begin with. */
export const PREFIX = 'NEST_LENS';
/** The same for variables that a deployment shares with Python processes. They count where NestLens's own are not set. */
export const FALLBACK_PREFIX = 'NEMO_LENS';
