import { processState } from '../state/process-state.js';
import type { NestLensConfig } from './config.js';
import type { SetupOptions } from './setup-options.js';

/** Puts in force how a set-up judges thrown values. */
export function putVerdictsInForce(
  { clientErrors = 'unset' }: NestLensConfig,
  { isError }: SetupOptions,
): void {
  Object.assign(processState.verdicts, { clientErrors, isError });
}

/** Forgets the rules, because they belong to one set-up. */
export function forgetVerdicts(): void {
  Object.assign(processState.verdicts, { clientErrors: 'unset', isError: undefined });
}
