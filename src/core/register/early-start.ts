import { createRequire, register } from 'node:module';
import { pathToFileURL } from 'node:url';
import * as workerThreads from 'node:worker_threads';
import { attemptResolve, requireOfApplication } from '../telemetry/application-require.js';
import { isSdkDisabled, nestLensConfigFromEnv } from '../telemetry/config-from-env.js';
import { hasStartedEarly, keepEarlySdk, rememberEarlyFailure } from '../telemetry/early-sdk.js';
import { installedInstrumentations } from './installed-instrumentations.js';
import { patchedModules } from '../telemetry/private-fields.js';
import { registeredTracerProvider } from '../telemetry/otel-globals.js';
import { processState } from '../state/process-state.js';
import { loadSdkWith } from '../telemetry/load-sdk.js';
import { startSdk } from '../telemetry/sdk.js';
import type { InstrumentationLike } from '../telemetry/setup-options.js';
import { emitWarnings } from '../diagnostics/warnings.js';

/**
 * Starts the SDK and the instrumentations that are installed, before the application loads; a set-up takes them over. It
 * reads the environment only, and does nothing when that doesn't enable telemetry, or when a provider is registered already.
 * Everything in here happens at once: after `--require` the application loads in the same turn. Never throws.
 */
export function startEarly(): void {
  if (hasStartedEarly() || processState.telemetry.phase !== 'off') return;
  if (isModuleHooksThread()) return;
  try {
    const config = nestLensConfigFromEnv();
    if (!config.enabled || isSdkDisabled() || registeredTracerProvider() !== undefined) return;
    const require = requireOfApplication('@opentelemetry/sdk-node');
    // Instrumentations first: they have to see everything that the SDK makes Node load.
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
 * Whether this is the thread in which Node runs the module hooks of the process. It runs what `--require` names once more,
 * in there, but never the application; an SDK of its own would take the ports that are meant for the application's.
 */
function isModuleHooksThread(): boolean {
  const { isInternalThread, isMainThread, parentPort } = workerThreads as typeof workerThreads & {
    isInternalThread?: boolean;
  };
  // Node 20 doesn't say. But there every worker that an application makes has a port to its parent.
  return isInternalThread ?? (!isMainThread && parentPort === null);
}

/**
 * Lets the instrumentations see ES modules too, by the hook that their base package brings. It is told what they patch, so
 * that all other modules are loaded as ever.
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
