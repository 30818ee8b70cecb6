import { type Client, ErrorCode, type EvaluationContext, ProviderEvents } from '@openfeature/server-sdk';
import type { SpanGroupSpecSource } from 'nest-lens';

/**
 * The spec in a string flag of whatever provider OpenFeature has. Without the flag, while it is disabled, or while it is empty, the
 * configured spec counts.
 *
 * @param client of `OpenFeature.getClient()`
 * @param flag its key; `span-groups` by default
 * @param context what the provider's rules may look at: with the host's name as `targetingKey`, a tenth of the fleet can go first
 */
export function openFeatureSpecSource(
  client: Client,
  flag = 'span-groups',
  context: EvaluationContext = {},
): SpanGroupSpecSource {
  return {
    name: `openfeature:${flag}`,
    watch(onSpec, onProblem) {
      let reads = 0;
      const read = async (): Promise<void> => {
        const own = ++reads;
        const { value, errorCode, errorMessage } = await client.getStringDetails(flag, '', context);
        // One that began later knows better.
        if (own !== reads) return;
        if (errorCode === undefined || errorCode === ErrorCode.FLAG_NOT_FOUND) onSpec(value || undefined);
        else onProblem?.(`${errorCode} ${errorMessage ?? ''}`);
      };
      const changed = (): void => void read().catch((error: unknown) => onProblem?.(error));
      const failed = (details?: { message?: string }): void =>
        onProblem?.(new Error(details?.message ?? 'the provider says no more'));
      // A handler of Ready is also called when the provider has been ready for long.
      client.addHandler(ProviderEvents.Ready, changed);
      client.addHandler(ProviderEvents.ConfigurationChanged, changed);
      client.addHandler(ProviderEvents.Error, failed);
      client.addHandler(ProviderEvents.Stale, failed);
      return () => {
        client.removeHandler(ProviderEvents.Ready, changed);
        client.removeHandler(ProviderEvents.ConfigurationChanged, changed);
        client.removeHandler(ProviderEvents.Error, failed);
        client.removeHandler(ProviderEvents.Stale, failed);
      };
    },
  };
}
