import { transformSync } from '@swc/core';
import { SWC_SETTINGS } from '../../scripts/swc-settings.mjs';

/** An ES module of TypeScript as JavaScript. */
export function compileProgram(source: string): string {
  return transformSync(source, SWC_SETTINGS).code;
}
