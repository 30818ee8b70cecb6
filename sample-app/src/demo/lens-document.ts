/** The part of the answer of `GET /lens/groups` that the demo reads. */
export interface LensDocument {
  telemetry: { enabled: boolean };
  spec: { active: string; override: { expiresAt: string } | null };
  groups: LensGroup[];
  warnings: { code: string; message: string }[];
}

export interface LensGroup {
  name: string;
  enabled: boolean;
  namespaces: string[];
  because: string[];
  sites: number;
}

/** The answer of `POST /lens/groups/preview`. */
export interface Preview {
  perSecond: number;
  bytesPerSecond: number;
  groups: { name: string; spans: number; perSecond: number }[];
}
