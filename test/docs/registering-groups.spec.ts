import { describe, expect, it } from 'vitest';
import { aroundSnippets, bootWith, codes, json } from './running-snippets.js';

describe('docs/registering-groups.md', () => {
  aroundSnippets();

  it('N1: forFeature and a provider register in time for the spec, and unite their presets', async () => {
    const { CacheModule } = await import('./snippets/feature-module.js');
    const { TenantSpans } = await import('./snippets/registering-provider.js');
    const { url } = await bootWith('per_request', { imports: [CacheModule], providers: [TenantSpans] });
    const document = await json(`${url}/lens/groups`);

    expect(document.namespaces).toEqual(['cache', 'tenants']);
    expect(document.enabled).toEqual(['cache_write', 'tenant_lookup']);
    expect(codes()).toEqual([]);
  });
});
