import { checkOptions, checkText } from '../core/diagnostics/argument-error.js';
import { InMemoryTestbed } from './in-memory-testbed.js';
import type { LensTestbed, LensTestbedOptions } from './lens-testbed.js';
import { takeOverProcess } from './take-over-process.js';
import { addTestbed } from './testbed-scope.js';

/**
 * Gives a test its own NestLens: a registry, a spec, and the spans that are made meanwhile, in memory. It needs no SDK.
 * `dispose()` restores the earlier state.
 *
 * It also catches applications that run in it, with their registrations. Their `forRoot` then sets nothing up, and its
 * `config` and `telemetry` have no effect. Several testbeds at once are told apart by the flow of calls in which each was
 * made; code outside of those flows belongs to the newest one.
 *
 * @param options `spec`: which groups are on (default `all`); `definitions`: what is registered (default: what is registered
 * outside)
 * @throws (rejects) SpanRegistryError for definitions that can't be registered; TypeError for options of a wrong type
 *
 * @example
 * await using testbed = await createLensTestbed({ spec: 'orders', definitions: [shop] });
 * await placeOrder();
 * expect(testbed.span('orders.place').attributes).toMatchObject({ 'order.items': 2 });
 */
export async function createLensTestbed(options: LensTestbedOptions = {}): Promise<LensTestbed> {
  checkOptions('createLensTestbed: options', options);
  const { spec = 'all', definitions } = options;
  checkText('createLensTestbed: spec', spec);
  const testbed = new InMemoryTestbed(spec, definitions);
  // This comes before the first await, so that the rest of the caller's flow belongs to it.
  addTestbed(testbed, takeOverProcess);
  try {
    testbed.start();
  } catch (error) {
    await testbed.dispose();
    throw error;
  }
  return testbed;
}
