import { managedSpan } from 'nest-lens';
import * as fallbacks from 'nest-lens/fallbacks';
import { StockService } from './stock.service.js';

// #region mock-in-jest
jest.mock('nest-lens', () => ({
  ...jest.requireActual<object>('nest-lens'),
  ...jest.requireActual<object>('nest-lens/fallbacks'),
}));
// #endregion

it('works with the fallbacks', () => {
  expect(managedSpan).toBe(fallbacks.managedSpan);
  expect(new StockService().take('tea')).toEqual({ product: 'tea', left: 41 });
});
