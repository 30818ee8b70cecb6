import type { Type } from '@nestjs/common';
import { express } from './adapters.js';
import { lensApp, type LensApp } from './lens-app.js';

/** Runs one thing in an application in which these groups are on, and tells what was exported. */
export async function runIn(
  groups: readonly string[],
  providers: Type<unknown>[],
  run: (lens: LensApp) => unknown,
  registered: readonly string[] = groups,
): Promise<LensApp> {
  const lens = await lensApp(express)
    .groups(...registered)
    .spec(groups.join(',') || 'nothing_of_these')
    .providers(...providers)
    .start();
  await run(lens);
  await lens.spans();
  return lens;
}

/** The name of each exported span, with its group. */
export const groupsOf = (lens: LensApp): Record<string, unknown> =>
  Object.fromEntries(lens.exporter.spans.map((span) => [span.name, span.attributes['nestlens.group']]));
