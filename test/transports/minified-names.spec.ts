import { describe, expect, it } from 'vitest';
import { startProgram } from '../support/child-program.js';
import { closeAfterTest, guardTransportTests } from '../support/close-after-test.js';

describe('an application whose names are minified', () => {
  guardTransportTests();

  it.each([false, true])(
    'N4: minified %s, spans have the names that were given, and are all there',
    async (minified) => {
      const program = await startProgram('named-spans', { minified });
      closeAfterTest(() => program.stop());
      const { className, spans } = program.ready;

      expect(className === 'MailService').toBe(!minified);
      expect(spans).toEqual(['Stock.take', `${className}.send`, 'Orders.list', 'orders.read']);
      expect(program.output()).toBe('');
    },
  );
});
