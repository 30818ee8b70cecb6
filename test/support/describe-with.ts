import { describe } from 'vitest';

/** Tests that need a program which isn't in npm. Where it isn't installed they are skipped, and the title says so. */
export function describeWith(program: string, isInstalled: boolean, title: string, tests: () => void): void {
  const shown = isInstalled ? title : `${title} (skipped: ${program} isn't installed)`;
  describe.skipIf(!isInstalled)(shown, tests);
}
