import { join } from 'node:path';
import { expect } from 'vitest';
import { captureWarnings } from '../support/capture-warnings.js';
import { until } from '../support/lens-app.js';
import { makeFolder, swapIn } from '../support/spec-file.js';
import { type Scenario, scenario } from './scenario.js';
import { lensGroupsOf, startApp } from './scenario-app.js';
import { setEnvironment } from './scenario-environment.js';

const config = { spanGroups: '', exporter: 'none' } as const;

/** Starts whose spec comes from a source. */
export const sourceScenarios: Readonly<Record<string, Scenario>> = {
  "the file of `NEST_LENS_SPAN_GROUPS_FILE` can't be read": scenario(
    'T7',
    async () => {
      const file = join(makeFolder(), 'span-groups');
      setEnvironment({ NEST_LENS_SPAN_GROUPS_FILE: file });
      const warnings = captureWarnings();
      const app = await startApp({ lens: { config } });
      return { app, file, warnings, spec: (await lensGroupsOf(app)).spec };
    },
    {
      '`SPEC_SOURCE_FAILED`, once;': ({ warnings }) =>
        expect(warnings.codes()).toEqual(['SPEC_SOURCE_FAILED']),
      'the application starts with the configured spec,': ({ spec }) =>
        expect(spec).toMatchObject({ source: 'options', active: '' }),
      'and obeys [the file](fleet.md) when it is there.': async ({ app, file, warnings }) => {
        swapIn(file, 'orders');
        await until(() => warnings.codes().includes('SPEC_SOURCE_RECOVERED'));
        const { enabled, spec } = await lensGroupsOf(app);
        expect([enabled, spec.source]).toEqual([['orders'], 'NEST_LENS_SPAN_GROUPS_FILE']);
      },
    },
  ),

  'a [source of the spec](fleet.md) gives no answer': scenario(
    'T7',
    async () => {
      setEnvironment();
      const specSource = { name: 'silent', watch: () => () => undefined };
      const began = performance.now();
      const app = await startApp({ lens: { config, specSource } });
      return { tookMs: performance.now() - began, spec: (await lensGroupsOf(app)).spec };
    },
    {
      'The start goes on after half a second,': ({ tookMs }) => {
        expect(tookMs).toBeGreaterThan(490);
        expect(tookMs).toBeLessThan(10_000);
      },
      'with the configured spec.': ({ spec }) =>
        expect(spec).toMatchObject({ source: 'options', active: '' }),
    },
  ),
};
