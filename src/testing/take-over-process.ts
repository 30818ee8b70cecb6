import { context, trace } from '@opentelemetry/api';
import { registeredApis, registeredTracerProvider } from '../core/telemetry/otel-globals.js';
import { FlowContextManager } from './flow-context-manager.js';
import { scopeState } from './scoped-state.js';
import { currentTestbed } from './testbed-scope.js';
import { testbedTracerProvider } from './testbed-tracer-provider.js';

const DONE = (): void => undefined;

/**
 * Gives the process to its testbeds: its state, once, and all spans. Hooks of a test may have unregistered our provider since
 * the last testbed, so this is checked each time.
 *
 * @returns a function that gives the process back
 */
export function takeOverProcess(isFirst: boolean): () => void {
  const restores = [
    isFirst ? scopeState(() => currentTestbed()!.state) : DONE,
    takeOverSpans(),
    provideContexts(),
  ];
  return () => restores.forEach((restore) => restore());
}

function takeOverSpans(): () => void {
  const provider = registeredTracerProvider();
  if (provider === testbedTracerProvider) return DONE;
  if (provider !== undefined) trace.disable();
  trace.setGlobalTracerProvider(testbedTracerProvider);
  return () => {
    // The test may have registered another provider.
    if (registeredTracerProvider() !== testbedTracerProvider) return;
    trace.disable();
    if (provider !== undefined) trace.setGlobalTracerProvider(provider);
  };
}

/** A registered context manager stays, because contexts belong to flows of calls, not to testbeds. */
function provideContexts(): () => void {
  if (registeredApis().contextManager !== undefined) return DONE;
  const manager = new FlowContextManager();
  context.setGlobalContextManager(manager);
  return () => {
    if (registeredApis().contextManager === manager) context.disable();
  };
}
