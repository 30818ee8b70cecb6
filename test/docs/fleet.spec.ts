import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it, vi } from 'vitest';
import { Module } from '@nestjs/common';
import { NestLensModule } from 'nest-lens';
import { until } from '../support/lens-app.js';
import { aroundSnippets, boot, closeApps, codes, json, setEnv } from './running-snippets.js';
import { shop } from './snippets/shop-spans.js';

vi.setConfig({ testTimeout: 20_000 });

const silent = { NEST_LENS_ENABLED: 'true', NEST_LENS_EXPORTER: 'none', NEST_LENS_METRICS_ENABLED: 'no' };

describe('docs/fleet.md', () => {
  aroundSnippets();

  it('T7: the file as shown may come later: the application starts, and says that it is missing', async () => {
    setEnv(silent);
    const { AppModule } = await import('./snippets/spec-file.js');
    const { spec, enabled } = await json(`${await boot(AppModule)}/lens/groups`);
    expect([spec.source, enabled, codes()]).toEqual(['default', ['orders'], ['SPEC_SOURCE_FAILED']]);
  });

  it('T7: the source as shown is followed, and keeps its spec while the service is away', async () => {
    let answer: [number, string] = [200, 'per_request'];
    let asked = 0;
    const service = createServer((_request, response) => {
      asked++;
      response.writeHead(answer[0], { connection: 'close' }).end(answer[1]);
    });
    service.listen(0, '127.0.0.1');
    await once(service, 'listening');
    const { settingsSpecSource } = await import('./snippets/settings-spec-source.js');
    const specSource = settingsSpecSource(`http://127.0.0.1:${(service.address() as AddressInfo).port}`);
    setEnv({ ...silent, NEST_LENS_SPAN_GROUPS: 'stock' });
    class AppModule {}
    Module({ imports: [NestLensModule.forRoot({ registrations: [shop], specSource })] })(AppModule);
    const url = `${await boot(AppModule)}/lens/groups`;
    /** What the document says after the next answer of the service. */
    const after = async (next: [number, string]): Promise<[string, string]> => {
      answer = next;
      const before = asked;
      await until(() => asked > before, 4_000);
      // The answer is on its way.
      await new Promise((resolve) => setTimeout(resolve, 100));
      const { spec } = await json(url);
      return [spec.source, spec.active];
    };
    try {
      expect((await json(url)).spec).toMatchObject({ source: 'settings service', active: 'per_request' });
      expect(await after([503, ''])).toEqual(['settings service', 'per_request']);
      expect(await after([404, ''])).toEqual(['NEST_LENS_SPAN_GROUPS', 'stock']);
      expect(codes()).toEqual(['SPEC_SOURCE_FAILED', 'SPEC_SOURCE_RECOVERED']);
    } finally {
      await closeApps();
      service.close();
    }
  });
});
