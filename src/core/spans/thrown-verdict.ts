import { emitOnce } from '../diagnostics/emit-once.js';
import { processState } from '../state/process-state.js';
import { ignoreRejection } from './ignore-rejection.js';
import type { SpanPlan } from './span-plan.js';

const { verdicts } = processState;

/**
 * Whether a thrown value makes a span an error. The site decides, if it says anything; else the application; else the rule:
 * everything is an error but an answer to the caller, such as an `HttpException` below 500.
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

/** What a callback of the application says; undefined where there is none, where it says nothing, and where it throws. */
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
