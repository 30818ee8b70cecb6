/** The holds of one Nest application on the process, from its start until it has closed. */
export interface HeldByApplication {
  /** The namespaces that it has registered. */
  readonly namespaces: Set<string>;
  /** The set-up that it uses. `pinned` means that it has none and keeps every group off. */
  telemetry: SharedSetUp | 'pinned' | undefined;
  /** Settles with the set-up, which happens once, although Nest may initialise an application again. */
  settingUp: Promise<void> | undefined;
  isSetUp: boolean;
  /** True from the beginning of its close. */
  isClosing: boolean;
  /** Settles at the end of its close. Nest 12 calls the hooks again for a second close; on Nest 11, two closes can overlap. */
  released: Promise<void> | undefined;
  /** The longest time that its close waits for telemetry, in milliseconds. */
  limitMs: number;
  /** The groups of `autoGroups`, and the one among them that handlers are in. */
  autoGroups?: { readonly all: ReadonlySet<string>; readonly handlers: string | undefined };
}

/** The set-up that Nest applications of a process share. */
export interface SharedSetUp {
  /** The options of the application that made it, to compare with those of others. */
  readonly asked: Readonly<Record<string, unknown>>;
  readonly ready: Promise<SharedHandle>;
  /** Once it is made. */
  handle?: SharedHandle;
  /** Settles when its shutdown has begun. An application that takes its place waits for that. */
  readonly ended: Promise<void>;
  readonly end: () => void;
}

/** The part of a handle that applications share. */
export interface SharedHandle {
  readonly mode: 'own' | 'attach' | null;
  readonly isExporting: boolean;
  shutdown(timeoutMs?: number, limitMs?: number): Promise<void>;
}
