import { createRequire, register } from 'node:module';
import { pathToFileURL } from 'node:url';
import * as workerThreads from 'node:worker_threads';
import { attemptResolve, requireOfApplication } from '../telemetry/application-require.js';
import { isSdkDisabled } from '../diagnostics/sdk-disabled.js';
import { nestLensConfigFromEnv } from '../telemetry/config-from-env.js';
import { hasStartedEarly, keepEarlySdk, rememberEarlyFailure } from '../telemetry/early-sdk.js';
import { installedInstrumentations } from './installed-instrumentations.js';
import { patchedModules } from '../private-fields/private-fields.js';
import { registeredTracerProvider } from '../telemetry/otel-globals.js';
import { processState } from '../state/process-state.js';
import { loadSdkWith } from '../telemetry/load-sdk.js';
import { startSdk } from '../telemetry/start-sdk.js';
import type { InstrumentationLike } from '../telemetry/setup-options.js';
import { emitWarnings } from '../diagnostics/warnings.js';

/**
 * Starts the SDK and the installed instrumentations before the application loads; the set-up takes them over. It reads only
 * the environment. It does nothing if that doesn't enable telemetry, or if a provider is registered already. Everything is
 * synchronous, because after `--require` the application loads in the same turn. Never throws.
 */
export function startEarly(): void {
  if (hasStartedEarly() || processState.telemetry.phase !== 'off') return;
  if (isModuleHooksThread()) return;
  try {
    const config = nestLensConfigFromEnv();
    if (!config.enabled || isSdkDisabled() || registeredTracerProvider() !== undefined) return;
    const require = requireOfApplication('@opentelemetry/sdk-node');
    // Instrumentations come first: they have to see every module that the SDK loads.
    const { instrumentations, foundIn } = installedInstrumentations(require, (specifier) =>
      attemptResolve(require, specifier),
    );
    if (foundIn !== undefined) hookImports(foundIn, instrumentations);
    keepEarlySdk(startSdk(loadSdkWith(require), config, { instrumentations }), config, instrumentations);
  } catch (error) {
    rememberEarlyFailure(error);
    const isConfigError = (error as { name?: unknown }).name === 'ConfigError';
    emitWarnings([{ code: isConfigError ? 'CONFIG_INVALID' : 'SETUP_FAILED', details: { error } }]);
  }
}

/**
 * Whether this is the thread in which Node runs module hooks. Node runs `--require` files there too, but never the
 * application. A second SDK there would take the ports that the application's SDK needs.
 */
function isModuleHooksThread(): boolean {
  const { isInternalThread, isMainThread, parentPort } = workerThreads as typeof workerThreads & {
    isInternalThread?: boolean;
  };
  // Node 20 doesn't tell. But there, every worker of an application has a port to its parent.
  return isInternalThread ?? (!isMainThread && parentPort === null);
}

/**
 * Registers the import hook of the instrumentations' base package, so that they see ES modules too. It passes the names of
 * the modules that they patch, so that all others load as always.
 */
function hookImports(foundIn: string, instrumentations: readonly InstrumentationLike[]): void {
  const hook = attemptResolve(createRequire(foundIn), '@opentelemetry/instrumentation/hook.mjs');
  if (hook === undefined) return;
  const include: (string | RegExp)[] = [];
  for (const instrumentation of instrumentations) {
    for (const { name, hasFiles } of patchedModules(instrumentation) ?? []) {
      include.push(name);
      if (hasFiles) include.push(new RegExp(`/node_modules/${name}/`));
    }
  }
  if (include.length === 0) return;
  register(pathToFileURL(hook).href, { parentURL: pathToFileURL(foundIn).href, data: { include } });
}
