/**
 * Whether `OTEL_SDK_DISABLED` disables the SDK, by the SDK's own rule: only `true` does, in any case, with or without blanks.
 */
export function isSdkDisabled(env: Readonly<Record<string, string | undefined>> = process.env): boolean {
  return env['OTEL_SDK_DISABLED']?.trim().toLowerCase() === 'true';
}
