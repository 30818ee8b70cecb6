import type { Span } from '@opentelemetry/api';
import { missingFunction } from './missing-function.js';
import { runInSpan } from './span-outcome.js';
import { planSpan, type SiteOptions } from './span-plan.js';

/**
 * Runs a piece of code inside a span, whatever the spec says. Use it for the few top-level spans that a process always makes,
 * such as that of a job. It behaves like `managedSpan` with its group on. Without a tracer provider the span records nothing.
 *
 * @param name the span's name
 * @param fn the work; always gets a span
 * @throws TypeError if there is no function to run
 *
 * @example
 * await withSpan('nightly-report', async (span) => { span.setAttribute('report.day', day); await report(day); });
 */
export function withSpan<T>(name: string, fn: (span: Span) => T): T;
/**
 * The same, with options: `withSpan(name, options, fn)`.
 *
 * @param name the span's name
 * @param options see {@link SiteOptions}
 * @param fn the work; always gets a span
 */
export function withSpan<T>(name: string, options: SiteOptions, fn: (span: Span) => T): T;
export function withSpan<T>(
  name: string,
  optionsOrFn: SiteOptions | ((span: Span) => T),
  fn?: (span: Span) => T,
): T {
  const body = fn ?? optionsOrFn;
  if (typeof body !== 'function') {
    throw missingFunction('withSpan', [name], body, 'withSpan(name, fn) or withSpan(name, options, fn)');
  }
  return runInSpan(
    planSpan(name, body === optionsOrFn ? undefined : (optionsOrFn as SiteOptions), undefined),
    body,
  );
}
