import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ChildProgram, startProgram } from '../support/child-program.js';

describe('an application without the packages of messages', () => {
  let program: ChildProgram;
  beforeAll(async () => {
    program = await startProgram('smallest-app', { nodeOptions: ['--import', './block-packages.js'] });
  });
  afterAll(() => program?.stop());

  it.each(['import', 'require'])('N4, N7: by %s, it starts, answers and makes its spans', (via) => {
    const { replies, spans } = program.ready[via];

    expect(replies.map(({ status }: { status: number }) => status)).toEqual([200, 400, 200]);
    expect(replies[0].body).toEqual({ id: 7 });
    expect(replies[2].body.groups[0]).toMatchObject({
      name: 'orders',
      siteList: [{ name: 'OrdersController.read', type: 'http', route: 'GET /orders/:id' }],
    });
    expect(spans.map(({ name }: { name: string }) => name)).toEqual(Array(2).fill('OrdersController.read'));
  });

  it('N4: says nothing of it', () => {
    expect(program.ready.findable).toEqual([]);
    expect(program.output()).toBe('');
  });
});
