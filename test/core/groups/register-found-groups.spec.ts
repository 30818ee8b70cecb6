import { expect, it } from 'vitest';
import { enabledSpanGroups, setSpanGroupSpec, SpanRegistry } from 'nest-lens/core';
import { registerFoundGroups } from '../../../src/core/groups/register-found-groups.js';
import { captureWarnings } from '../../support/capture-warnings.js';
import { setUpForTest } from '../../support/live-telemetry.js';

const found = (...groups: string[]) => ({
  groups,
  presets: { found: groups },
  origin: { api: 'autoGroups' },
});

it('T6: groups that were found take effect at once, and replace those that were found before', () => {
  captureWarnings(); // none on the console
  setSpanGroupSpec('found');
  registerFoundGroups('auto', found('orders'));
  expect([...enabledSpanGroups()]).toEqual(['orders']);
  registerFoundGroups('auto', found('payment'));
  expect([[...enabledSpanGroups()], SpanRegistry.namespaces()]).toEqual([['payment'], ['auto']]);
});

it('R21: a group that was found and has the name of a preset is one warning, whichever came first', () => {
  SpanRegistry.register('shop', ['orders'], { fast: ['orders'] });
  const warnings = captureWarnings();
  registerFoundGroups('auto', found('fast', 'slow'));
  expect(warnings.single('PRESET_SHADOWS_GROUP').details).toEqual({ namespace: 'auto', name: 'fast' });
  registerFoundGroups('auto', found('fast', 'handlers', 'slow'));
  expect(warnings.take()).toEqual(['PRESET_SHADOWS_GROUP']);
  registerFoundGroups('other', {
    ...found('queries'),
    presets: { handlers: ['queries'], fast: ['queries'] },
  });
  expect(warnings.all.slice(1).map(({ details }) => details)).toEqual([
    { namespace: 'other', name: 'handlers' },
  ]);
});

it('W3: of groups that were found nothing is said but what the spec still misses', async () => {
  SpanRegistry.register('shop', ['orders']);
  const warnings = captureWarnings();
  await setUpForTest({ spanGroups: 'my-group,late,later' });
  expect(warnings.take()).toEqual(['SPEC_UNRESOLVED']);
  registerFoundGroups('auto', found('orders', 'my-group'));
  expect(warnings.take()).toEqual(['SPEC_UNRESOLVED']);
  expect(warnings.all.at(-1)!.details).toMatchObject({ pending: ['late', 'later'] });
  registerFoundGroups('auto', found('late', 'later', 'my-group'));
  expect(warnings.take()).toEqual([]);
});
