import type { NamespaceRegistration, RegistrationOrigin } from '../state/state-shape.js';

/** The API name of the registrations of instrumentations' groups. */
export const OF_INSTRUMENTATIONS = 'instrumentationGroups';

/**
 * The API name of registrations that give way: when an application registers the same group itself, the group belongs to the
 * application alone.
 */
export const GIVING_WAY = 'autoGroups';

/**
 * Remembers which function registers, and where it was called. The stack is only captured here (measured: 20 us); it is formatted
 * when two registrations clash and the error names both places.
 */
export function originOf(api: string, caller?: (...args: never[]) => unknown): RegistrationOrigin {
  const origin: RegistrationOrigin = { api };
  if (caller !== undefined) Error.captureStackTrace(origin, caller);
  return origin;
}

/** E.g. `NestLensModule.forFeature at /app/src/cache.module.ts:12:5`. */
export function describeOrigin(origin: RegistrationOrigin): string {
  const place = placeOf(origin);
  return place === undefined ? origin.api : `${origin.api} at ${place}`;
}

function placeOf({ stack }: RegistrationOrigin): string | undefined {
  const frame = /^ +at .*$/m.exec(String(stack))?.[0];
  const place = frame && /\((.+:\d+:\d+)\)$|^ +at (?:async )?(.+:\d+:\d+)$/.exec(frame);
  return place ? (place[1] ?? place[2]) : undefined;
}

/** Whether both calls of one function stand in files of one folder, as they do before and after a hot reload. */
export function isFromSameFolder(a: RegistrationOrigin, b: RegistrationOrigin): boolean {
  const [one, other] = [a, b].map((origin) => placeOf(origin)?.replace(/[^/\\]*$/, ''));
  return a.api === b.api && one !== undefined && one === other;
}

/** Says in words how a registration differs from an earlier one of the same namespace. */
export function differences(before: NamespaceRegistration, now: NamespaceRegistration): string[] {
  const changed = [...new Set([...Object.keys(before.presets), ...Object.keys(now.presets)])].filter(
    (preset) => JSON.stringify(before.presets[preset]) !== JSON.stringify(now.presets[preset]),
  );
  return [
    ...now.groups.filter((group) => !before.groups.includes(group)).map((group) => `group '${group}' is new`),
    ...before.groups
      .filter((group) => !now.groups.includes(group))
      .map((group) => `group '${group}' is missing`),
    ...changed.sort().map((preset) => `preset '${preset}' has other members`),
  ];
}
