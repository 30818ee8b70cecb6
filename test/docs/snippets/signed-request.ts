// #region signed-request
import { signSpanGroups } from 'nest-lens/core';

export function getInFull(url: string, key: string) {
  return fetch(url, { headers: { 'x-lens-groups': signSpanGroups('per_request', { key, ttlMs: 600_000 }) } });
}
// #endregion
