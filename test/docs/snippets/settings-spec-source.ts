// #region settings-spec-source
import type { SpanGroupSpecSource } from 'nest-lens';

export function settingsSpecSource(url: string): SpanGroupSpecSource {
  return {
    name: 'settings service',
    watch(onSpec, onProblem) {
      let isOver = false;
      const poll = async () => {
        if (isOver) return;
        try {
          const answer = await fetch(url, { signal: AbortSignal.timeout(5_000) });
          if (answer.status === 404) onSpec(undefined);
          else if (answer.ok) onSpec(await answer.text());
          else onProblem?.(`the service answered ${answer.status}`);
        } catch (error) {
          onProblem?.(error);
        }
        setTimeout(() => void poll(), 2_000).unref();
      };
      void poll();
      return () => {
        isOver = true;
      };
    },
  };
}
// #endregion
