import { argumentError, checkOptions } from '../core/diagnostics/argument-error.js';
import { readRequestOptIn } from '../core/opt-in/request-opt-in-options.js';
import { checkSpecSource } from '../core/sources/span-group-spec-source.js';
import { checkSetupOptions } from '../core/telemetry/check-setup-options.js';
import { checkEnvOptions } from '../core/telemetry/config-from-env.js';
import { requireKnownOptions } from './known-options.js';
import type { NestLensModuleAsyncOptions, NestLensModuleOptions } from './nest-lens-options.js';

/**
 * Stops the start for unknown options and values of a wrong type. `registrations` and `introspection` are checked where they
 * are read. A value in `config` may come from the environment, so one that isn't allowed gives a warning, and telemetry stays
 * off.
 *
 * @param from the function that got the options
 * @throws TypeError for an unknown key and for a value of a wrong type
 */
export function checkModuleOptions(
  from: 'NestLensModule.forRoot' | 'The factory of NestLensModule.forRootAsync',
  options: NestLensModuleOptions,
): void {
  requireKnownOptions(from, options);
  const { config, env, telemetry, specSource, requestOptIn, setupAt, shutdownTimeoutMs, isError } = options;
  checkOptions(`${from}: config`, config);
  if (env !== undefined) checkEnvOptions(`${from}: env`, env);
  if (telemetry !== undefined) checkSetupOptions(`${from}: telemetry`, telemetry);
  readRequestOptIn(requestOptIn);
  if (specSource !== undefined) checkSpecSource(`${from}: specSource`, specSource);
  if (setupAt !== undefined && setupAt !== 'bootstrap' && setupAt !== 'init') {
    throw argumentError(`${from}: setupAt`, "'bootstrap' or 'init'", setupAt);
  }
  if (shutdownTimeoutMs !== undefined && typeof shutdownTimeoutMs !== 'number') {
    throw argumentError(`${from}: shutdownTimeoutMs`, 'a number of milliseconds', shutdownTimeoutMs);
  }
  if (isError !== undefined && typeof isError !== 'function') {
    throw argumentError(`${from}: isError`, 'a function of the thrown value', isError);
  }
}

/** Checks the options of `forRootAsync` itself. */
export function checkAsyncOptions(
  from: 'NestLensModule.forRootAsync',
  options: NestLensModuleAsyncOptions,
): void {
  requireKnownOptions(from, options);
  const { imports, inject, useFactory, useClass } = options;
  for (const [option, given] of Object.entries({ imports, inject })) {
    if (given !== undefined && !Array.isArray(given))
      throw argumentError(`${from}: ${option}`, 'an array', given);
  }
  for (const [option, given] of Object.entries({ useFactory, useClass })) {
    if (given !== undefined && typeof given !== 'function') {
      throw argumentError(`${from}: ${option}`, option === 'useClass' ? 'a class' : 'a function', given);
    }
  }
}
