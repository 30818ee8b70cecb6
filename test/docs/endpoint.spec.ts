import { describe, expect, it } from 'vitest';
import { readPage } from './documentation.js';
import { aroundSnippets, boot, json, setEnv } from './running-snippets.js';

describe('docs/endpoint.md', () => {
  aroundSnippets();

  const silent = { NEST_LENS_ENABLED: 'true', NEST_LENS_EXPORTER: 'none', NEST_LENS_METRICS_ENABLED: 'no' };

  it('N7: the guard as shown lets nobody in without a token that was set', async () => {
    setEnv(silent);
    const { AppModule } = await import('./snippets/runtime-control.js');
    const url = `${await boot(AppModule)}/lens/groups`;
    const statusWith = async (authorization: string) =>
      (await fetch(url, { headers: { authorization } })).status;

    expect(await statusWith('Bearer undefined')).toBe(403);
    setEnv({ OPERATOR_TOKEN: 'let-me-in' });
    expect(await statusWith('Bearer let-me-out')).toBe(403);
    expect(await statusWith('Bearer let-me-in')).toBe(200);
  });

  it('T7: the commands as shown put an override over the spec and take it away', async () => {
    setEnv({ ...silent, OPERATOR_TOKEN: 'let-me-in' });
    const { AppModule } = await import('./snippets/runtime-control.js');
    const url = await boot(AppModule);
    const commands = readPage('docs/endpoint.md')
      .blocks('sh')
      .flatMap((block) => block.replaceAll('\\\n', ' ').split('\n'))
      .filter((line) => line.startsWith('curl -X'));
    const documents: any[] = [];
    for (const command of commands) {
      const headers = [...command.matchAll(/-H (["'])(.*?)\1/g)].map(([, , header]) =>
        header!.replace('$OPERATOR_TOKEN', 'let-me-in').split(': '),
      );
      const [, method, path] = /^curl -X (\w+) localhost:3000(\S+)/.exec(command)!;
      const body = /-d '(.*)'/.exec(command)?.[1];
      documents.push(await json(url + path, { method, body, headers: Object.fromEntries(headers) as never }));
    }

    expect(commands).toHaveLength(2);
    const [put, deleted] = documents;
    expect(put.enabled).toEqual(['orders', 'stock']);
    expect(put.spec).toMatchObject({ configured: 'default', active: 'per_request' });
    const endsIn = Date.parse(put.spec.override.expiresAt) - Date.now();
    expect(endsIn).toBeGreaterThan(890_000);
    expect(endsIn).toBeLessThanOrEqual(900_000);
    expect(deleted.enabled).toEqual(['orders']);
    expect(deleted.spec.override).toBeNull();
  });

  it('a preview answers what is shown', async () => {
    setEnv({ ...silent, OPERATOR_TOKEN: 'let-me-in' });
    const { AppModule } = await import('./snippets/runtime-control.js');
    const body = JSON.stringify({ seconds: 0.01, groups: ['orders'] });
    const headers = { authorization: 'Bearer let-me-in', 'content-type': 'application/json' };
    const url = `${await boot(AppModule)}/lens/groups/preview`;
    const answer = await json(url, { method: 'POST', headers, body });
    const shown = JSON.parse(readPage('docs/endpoint.md').blocks('json')[2]!);

    expect(Object.keys(answer)).toEqual(Object.keys(shown));
    expect(Object.keys(answer.groups[0])).toEqual(Object.keys(shown.groups[0]));
    expect(shown.spans / shown.seconds).toBe(shown.perSecond);
  });

  it('with the guards as shown, who may look may not change, and the record says who did', async () => {
    setEnv({ ...silent, OPERATOR_TOKEN: 'let-me-in' });
    const { AppModule } = await import('./snippets/look-or-change.js');
    const url = `${await boot(AppModule)}/lens/groups`;
    const viewer = { 'x-forwarded-user': 'anna' };
    const operator = { ...viewer, authorization: 'Bearer let-me-in', 'content-type': 'application/json' };
    const put = (headers: Record<string, string>): Promise<Response> =>
      fetch(url, { method: 'PUT', headers, body: JSON.stringify({ spec: 'per_request' }) });

    expect((await fetch(url)).status).toBe(403);
    expect((await put({ ...viewer, 'content-type': 'application/json' })).status).toBe(403);
    expect((await put(operator)).status).toBe(200);
    const { changes } = await json(url, { headers: viewer });
    const [, shown] = readPage('docs/endpoint.md').blocks('json');
    expect(changes).toHaveLength(1);
    expect(changes[0]).toMatchObject({ before: 'default', after: 'per_request', by: 'anna' });
    expect(Object.keys(changes[0])).toEqual(Object.keys(JSON.parse(shown!)));
  });
});
