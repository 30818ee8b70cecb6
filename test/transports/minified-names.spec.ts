import { expect, it } from 'vitest';
import { startProgram } from '../support/child-program.js';

it('N4: in an application whose names are minified, spans have the names that were given, and are all there', async () => {
  const program = await startProgram('named-spans', { minified: true });
  try {
    const { className, spans } = program.ready;

    expect(className).not.toBe('MailService');
    expect(spans).toEqual(['Stock.take', `${className}.send`, 'Orders.list', 'orders.read']);
    expect(program.output()).toBe('');
  } finally {
    await program.stop();
  }
});
