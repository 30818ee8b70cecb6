import { HttpException } from '@nestjs/common';
import { processState } from '../../core/state/process-state.js';

/**
 * OpenTelemetry's HTTP convention for servers: an answer below 500 is the client's fault and leaves the status unset. That
 * holds for an `HttpException`, which Nest recognises by `instanceof`. An exception of another copy of `@nestjs/common`, or a
 * lookalike, is an error. So are errors of other libraries (http-errors, Fastify), although Nest answers with their status.
 */
function isHttpAnswer(thrown: unknown): boolean {
  try {
    return thrown instanceof HttpException && thrown.getStatus() < 500;
  } catch {
    return false; // A proxy, or an own getStatus() that throws.
  }
}

/** The effect of an answer on the status of a handler's span; undefined for a method that isn't a handler. */
export function clientErrorsOf(types: readonly string[]): 'unset' | 'error' | undefined {
  if (types.includes('rpc') || types.includes('ws')) return 'error'; // Other handlers don't answer with its status.
  return types.includes('http') || types.includes('graphql') ? 'unset' : undefined;
}

// As soon as the Nest layer is loaded, the core of every copy recognises answers.
processState.verdicts.answers.add(isHttpAnswer);
