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
