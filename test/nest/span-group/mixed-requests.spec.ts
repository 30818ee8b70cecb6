import { describe, expect, it } from 'vitest';
import { startProgram } from '../../support/child-program.js';
import { closeAfterTest, guardTransportTests } from '../../support/close-after-test.js';

const REQUESTS = 4_000;
/** For one request, in bytes: less than any span. About 250 are measured, since code goes on being compiled. */
const MAY_STAY = 500;

describe('requests of all sorts, in a process of their own', () => {
  guardTransportTests();

  it('I9: 4,000 of them, answered, missing, broken, left and timed out, leave no open span and hardly any memory', async () => {
    const program = await startProgram('mixed-shop', {
      nodeOptions: ['--expose-gc'],
    });
    closeAfterTest(() => program.stop());
    await program.ask(1_000); // code is compiled, pools are filled
    const { statuses, started, ended, cancelled, failed, observed, growth } = await program.ask(REQUESTS);

    // Five of ten are answered and make a second span; one of ten is left, after it was answered.
    expect(statuses).toEqual({
      200: REQUESTS * 0.6,
      404: REQUESTS * 0.2,
      500: REQUESTS * 0.1,
      408: REQUESTS * 0.1,
    });
    expect({ started, ended }).toEqual({ started: REQUESTS * 1.5, ended: REQUESTS * 1.5 });
    // The interceptor sees that it took too long as an answer of 408, the method as work that was given up.
    expect(cancelled).toBe(REQUESTS * 0.15);
    expect(failed).toBe(REQUESTS * 0.1);
    expect(observed).toBe(false);
    expect(growth).toBeLessThan(REQUESTS * MAY_STAY);
    expect(program.output()).toBe('');
  }, 90_000);
});
