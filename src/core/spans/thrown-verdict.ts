import { emitOnce } from '../diagnostics/emit-once.js';
import { processState } from '../state/process-state.js';
import { ignoreRejection } from './ignore-rejection.js';
import type { SpanPlan } from './span-plan.js';

const { verdicts } = processState;

/**
 * Whether a thrown value makes a span an error. The site's `isError` decides first, then the application's, then the rule:
 * every value is an error except an answer to the caller, such as an `HttpException` below 500.
 */
export function isFault(plan: SpanPlan, thrown: unknown): boolean {
  const { name, isError } = plan;
  return (
    ask(isError, thrown, name, `site ${name}`) ??
    ask(verdicts.isError, thrown, name, 'application') ??
    isFaultByRule(plan, thrown)
  );
}

function isFaultByRule({ clientErrors = verdicts.clientErrors }: SpanPlan, thrown: unknown): boolean {
  if (clientErrors === 'error') return true;
  for (const isAnswer of verdicts.answers) {
    if (isAnswer(thrown)) return false;
  }
  return true;
}

/** The verdict of an application's callback; undefined if there is none, if it returns none, or if it throws. */
function ask(
  isError: SpanPlan['isError'],
  thrown: unknown,
  span: string,
  whose: string,
): boolean | undefined {
  if (isError === undefined) return undefined;
  try {
    const verdict: unknown = isError(thrown);
    if (typeof verdict === 'boolean') return verdict;
    ignoreRejection(verdict);
    return undefined;
  } catch (error) {
    emitOnce(whose, { code: 'IS_ERROR_FAILED', details: { span, error } });
    return undefined;
  }
}
