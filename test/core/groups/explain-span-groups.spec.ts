import { beforeEach, describe, expect, it } from 'vitest';
import { overrideSpanGroups, setEnabledSpanGroups, setSpanGroupSpec, SpanRegistry } from 'nest-lens/core';
import {
  entriesFor,
  type ExplainedSpanGroup,
  explainSpanGroups,
} from '../../../src/core/groups/explain-span-groups.js';
import { captureWarnings } from '../../support/capture-warnings.js';

const explained = (name: string): ExplainedSpanGroup | undefined =>
  explainSpanGroups().find((group) => group.name === name);

beforeEach(() => {
  captureWarnings(); // none on the console
  SpanRegistry.register('shop', ['payment', 'cache'], { quiet: ['cache'], default: ['payment', 'cache'] });
  SpanRegistry.register('db', ['db_query', 'cache'], { default: ['db_query', 'nobody'] });
});

describe('what is known of the registered groups', () => {
  it('N7: is who registered each, which presets name it, whether it is on and why; all of it sorted', () => {
    setSpanGroupSpec('quiet,default,db_*,tpyo,-payment');
    expect(explainSpanGroups()).toEqual([
      {
        name: 'cache',
        enabled: true,
        namespaces: ['db', 'shop'],
        presets: ['default', 'quiet'],
        because: ['default', 'quiet'],
      },
      {
        name: 'db_query',
        enabled: true,
        namespaces: ['db'],
        presets: ['default'],
        because: ['db_*', 'default'],
      },
      { name: 'payment', enabled: false, namespaces: ['shop'], presets: ['default'], because: [] },
    ]);
  });

  it('N7: has no reason without a spec, whether the groups are off or pinned on', () => {
    expect(explainSpanGroups().map(({ enabled, because }) => [enabled, because])).toEqual([
      [false, []],
      [false, []],
      [false, []],
    ]);
    setEnabledSpanGroups(['cache']);
    expect(explained('cache')).toMatchObject({ enabled: true, because: [] });
  });

  it('N7: has the reason that is in force, which is that of an override', () => {
    setSpanGroupSpec('cache');
    overrideSpanGroups('all,-payment');
    expect([explained('cache')!.because, explained('payment')!.because]).toEqual([['all'], []]);
  });
});

describe('the entries that turn a group on', () => {
  it('N7: are its name, its presets in order, and all', () => {
    expect(entriesFor('cache')).toEqual(['cache', 'default', 'quiet', 'all']);
    expect(entriesFor('db_query')).toEqual(['db_query', 'default', 'all']);
  });

  it('R21: do not include its name if that means a preset, unless the preset names it', () => {
    SpanRegistry.register('odd', [], { payment: ['cache'], cache: ['cache'] });
    expect(entriesFor('payment')).toEqual(['default', 'all']);
    expect(entriesFor('cache')).toEqual(['cache', 'default', 'payment', 'quiet', 'all']);
  });

  it('S6: do not include names that a spec reads otherwise: as an exclusion, or as a pattern', () => {
    SpanRegistry.register('odd', ['-step', 'step'], { '-quiet': ['step'], 'db*': ['step'], 's*p': ['step'] });
    expect(entriesFor('step')).toEqual(['step', 's*p', 'all']);
    expect(entriesFor('-step')).toEqual(['all']);
  });

  it('R9: are none where nobody has registered the group', () => {
    expect(entriesFor('nobody')).toEqual([]);
  });
});
