/** The fields of the document of `GET /lens/groups` that commands read. */
export interface LensDocument {
  readonly telemetry: {
    readonly enabled: boolean;
    readonly exporting: boolean;
    readonly mode: string | null;
  };
  readonly spec: {
    readonly active: string;
    readonly source: string;
    readonly pinned: boolean;
    readonly override: { readonly spec: string; readonly expiresAt: string | null } | null;
  };
  readonly enabled: readonly string[];
  readonly pending: readonly string[];
  readonly groups: readonly LensGroup[];
  /** The newest comes last. Older applications have none. */
  readonly changes?: readonly { readonly by: string | number | null }[];
  readonly warnings: readonly { readonly code: string; readonly message: string; readonly at: string }[];
}

/** One group of it. */
export interface LensGroup {
  readonly name: string;
  readonly enabled: boolean;
  readonly namespaces: readonly string[];
  readonly presets: readonly string[];
  readonly because: readonly string[];
  readonly sites: number;
  readonly siteList?: readonly LensSite[];
  readonly turnedOnBy?: readonly string[];
}

/** One site of a group. */
export interface LensSite {
  readonly name: string;
  readonly kind: string;
  readonly route?: string;
}

/** What a preview counts. */
export interface LensPreview {
  readonly seconds: number;
  readonly spans: number;
  readonly perSecond: number;
  readonly bytesPerSecond: number;
  readonly groups: readonly {
    readonly name: string;
    readonly spans: number;
    readonly perSecond: number;
    readonly sites: readonly { readonly name: string; readonly spans: number }[];
  }[];
  readonly pending?: readonly string[];
}

const hasLists = (given: unknown, ...keys: string[]): boolean =>
  typeof given === 'object' && given !== null && keys.every((key) => Array.isArray((given as never)[key]));

/** Whether an answer is such a document, because any server may have answered. */
export function isLensDocument(given: unknown): given is LensDocument {
  const { spec, telemetry } = (given ?? {}) as Partial<LensDocument>;
  return (
    hasLists(given, 'enabled', 'pending', 'groups', 'warnings') &&
    typeof spec?.active === 'string' &&
    typeof telemetry === 'object' &&
    (given as LensDocument).groups.every(isLensGroup) &&
    (given as LensDocument).warnings.every((warning) => typeof warning?.code === 'string')
  );
}

export function isLensGroup(given: unknown): given is LensGroup {
  return hasLists(given, 'namespaces', 'presets', 'because') && typeof (given as LensGroup).name === 'string';
}

export function isLensPreview(given: unknown): given is LensPreview {
  return (
    hasLists(given, 'groups') &&
    typeof (given as LensPreview).spans === 'number' &&
    (given as LensPreview).groups.every((group) => hasLists(group, 'sites'))
  );
}
