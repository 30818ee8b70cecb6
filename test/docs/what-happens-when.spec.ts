import { afterEach, describe, expect, it, vi } from 'vitest';
import { endScenarios } from './end-scenarios.js';
import type { Scenario } from './scenario.js';
import { closeApps } from './scenario-app.js';
import { variablesSet } from './scenario-environment.js';
import { sentenceScenarios } from './sentence-scenarios.js';
import { sourceScenarios } from './source-scenarios.js';
import { startScenarios } from './start-scenarios.js';
import { variableScenarios } from './variable-scenarios.js';
import { whatHappensWhenPage } from './what-happens-when-page.js';

vi.setConfig({ testTimeout: 60_000 });

type Scenarios = Readonly<Record<string, Scenario>>;

const VARIABLES = '…a variable of the SDK is set';
/** Under which heading of the page which cases stand. */
const TABLES: Readonly<Record<string, Scenarios>> = {
  '…the application starts': { ...startScenarios, ...sourceScenarios },
  '…the application ends': endScenarios,
  [VARIABLES]: variableScenarios,
};
const WITHOUT_TABLE = ['Metrics'];

const page = whatHappensWhenPage();

/** For a table of tests: the first cell, or the sentence, is the title. */
const titled = (scenarios: Scenarios) =>
  Object.entries(scenarios).map(([when, { behaviour, cells, run }]) => ({ when, behaviour, cells, run }));

/** `OTEL_BSP_*` stands for at least two variables, a whole name for itself. */
function isMet(variable: string, set: readonly string[]): boolean {
  const pattern = new RegExp(`^${variable.replace('*', '\\w+')}$`);
  return set.filter((name) => pattern.test(name)).length >= (variable.includes('*') ? 2 : 1);
}

describe('docs/what-happens-when.md', () => {
  it('has the sections that are gone through here', () => {
    expect([...page.keys()]).toEqual([...Object.keys(TABLES), ...WITHOUT_TABLE]);
  });
});

describe.each(Object.entries(TABLES))('%s', (heading, scenarios) => {
  const { rows } = page.get(heading)!;
  afterEach(closeApps);

  it('has a line for each case that is gone through here, and no others', () => {
    expect(Object.keys(scenarios).sort()).toEqual([...rows.keys()].sort());
  });

  it.each(titled(scenarios))('$behaviour: $when', async ({ when, cells, run }) => {
    expect(rows.get(when)).toEqual(cells);
    await run();
    if (heading !== VARIABLES) return;
    const variables = when.match(/OTEL_[A-Z_*]+/g)!;
    expect(variables.filter((variable) => !isMet(variable, variablesSet()))).toEqual([]);
  });
});

describe('outside of the tables', () => {
  const sentences = [...page.values()].flatMap((section) => section.sentences);

  it('stands what is gone through here, and nothing else', () => {
    expect(Object.keys(sentenceScenarios)).toEqual(sentences);
  });

  it.each(titled(sentenceScenarios))('$behaviour: $when', ({ run }) => run());
});
