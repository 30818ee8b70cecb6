import type { CanActivate, PipeTransform } from '@nestjs/common';
import type { Timeline } from './timeline.js';

/** A guard that notes on a timeline that guards run. */
export function notingGuard(timeline: Timeline): CanActivate {
  return {
    canActivate() {
      timeline.note('guards run');
      return true;
    },
  };
}

/** A pipe that notes on a timeline that pipes run. */
export function notingPipe(timeline: Timeline): PipeTransform {
  return {
    transform(value: unknown) {
      timeline.note('pipes run');
      return value;
    },
  };
}
