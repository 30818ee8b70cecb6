import { HttpException } from '@nestjs/common';
import { processState } from '../../core/state/process-state.js';

/**
 * OpenTelemetry's HTTP convention for servers: an answer below 500 is the client's fault and leaves the status unset. That
 * goes for an `HttpException`, which Nest tells by `instanceof`; one of another copy of `@nestjs/common`, or one that merely
 * looks the part, is an error. So are errors of other libraries (http-errors, Fastify) that Nest gives their own status.
 */
function isHttpAnswer(thrown: unknown): boolean {
  try {
    return thrown instanceof HttpException && thrown.getStatus() < 500;
  } catch {
    return false; // a proxy, or a getStatus() of its own
  }
}

/** What an answer does to the status of a handler's span; undefined for a method that Nest doesn't call as a handler. */
export function clientErrorsOf(types: readonly string[]): 'unset' | 'error' | undefined {
  if (types.includes('rpc') || types.includes('ws')) return 'error'; // Nest doesn't answer with its status there
  return types.includes('http') || types.includes('graphql') ? 'unset' : undefined;
}

// As soon as the Nest layer is there: from then on the core, of whichever copy, knows an answer when it passes a span.
processState.verdicts.answers.add(isHttpAnswer);
