import { describe, expect, it } from 'vitest';
import { startProgram } from '../support/child-program.js';
import { closeAfterTest, guardTransportTests } from '../support/close-after-test.js';

describe('an application without the packages of messages', () => {
  guardTransportTests();

  it.each(['import', 'require'])(
    'N4, N7: by %s, it starts, answers, makes its spans and says nothing',
    async (via) => {
      const program = await startProgram('smallest-app', {
        nodeOptions: ['--import', './block-packages.js'],
        env: { VIA: via },
      });
      closeAfterTest(() => program.stop());
      const { findable, replies, spans } = program.ready;

      expect(findable).toEqual([]);
      expect(replies.map(({ status }: { status: number }) => status)).toEqual([200, 400, 200]);
      expect(replies[0].body).toEqual({ id: 7 });
      expect(replies[2].body.groups[0]).toMatchObject({
        name: 'orders',
        siteList: [{ name: 'OrdersController.read', type: 'http', route: 'GET /orders/:id' }],
      });
      expect(spans.map(({ name }: { name: string }) => name)).toEqual(Array(2).fill('OrdersController.read'));
      expect(program.output()).toBe('');
    },
    20_000,
  );
});
