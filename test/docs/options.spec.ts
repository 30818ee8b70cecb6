import { describe, expect, it, vi } from 'vitest';
import { managedSpan } from 'nest-lens';
import { aroundSnippets, boot, closeApps, json, setEnv } from './running-snippets.js';
import { names } from './span-tree.js';

describe('docs/options.md', () => {
  aroundSnippets();

  it('C5, H7: forRoot as shown: its exporter gets the span, and the route has moved', async () => {
    setEnv({ NEST_LENS_ENABLED: 'true', NEST_LENS_SPAN_GROUPS: 'stock' });
    const printed = vi.spyOn(console, 'dir').mockImplementation(() => undefined);
    const { AppModule } = await import('./snippets/for-root.js');
    const url = await boot(AppModule);
    managedSpan('stock', 'stock.take', () => undefined);

    expect((await fetch(`${url}/internal/groups`)).status).toBe(200);
    expect((await fetch(`${url}/lens/groups`)).status).toBe(404);
    await closeApps();
    const spans = printed.mock.calls.map(([span]) => span);
    expect(names(spans)).toEqual(['stock.take']);
    expect(spans[0].resource.attributes['service.name']).toBe('shop');
  });

  it('C5: forRootAsync as shown: the injected settings decide, the guard guards', async () => {
    setEnv({ NEST_LENS_EXPORTER: 'none', NEST_LENS_METRICS_ENABLED: 'no', OPERATOR_TOKEN: 'let-me-in' });
    const { AppModule } = await import('./snippets/for-root-async.js');
    const url = await boot(AppModule);

    expect((await fetch(`${url}/lens/groups`)).status).toBe(403);
    const document = await json(`${url}/lens/groups`, { headers: { authorization: 'Bearer let-me-in' } });
    expect(document.enabled).toEqual(['stock']);
    expect(document.spec).toMatchObject({ configured: 'per_request,-orders', source: 'options' });
  });
});
