import { expect, it, jest } from '@jest/globals';
import * as fallbacks from 'nest-lens/fallbacks';

// #region mock-in-jest-esm
const actual = await import('nest-lens');
jest.unstable_mockModule('nest-lens', () => ({ ...actual, ...fallbacks }));
// What uses it is imported afterwards.
const { StockService } = await import('./stock.service.js');
// #endregion

it('works with the fallbacks', async () => {
  const { managedSpan } = await import('nest-lens');
  expect(managedSpan).toBe(fallbacks.managedSpan);
  expect(new StockService().take('tea')).toEqual({ product: 'tea', left: 41 });
});
