import { ConflictException } from '@nestjs/common';
import { processState } from '../../core/state/process-state.js';

/** @throws ConflictException if there is nothing to change */
export function requireTelemetry(): void {
  if (processState.telemetry.mode !== null) return;
  throw new ConflictException('Telemetry is disabled in this process, so its span groups cannot be changed.');
}
