// What a person reads when a command can't do its work: one line, and never the token.
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { NestLensModule } from 'nest-lens';
import { express } from '../support/adapters.js';
import { guardEachTest, lensApp } from '../support/lens-app.js';
import { runInProcess as run } from '../support/run-command.js';

vi.setConfig({ testTimeout: 60_000 });

const TOKEN = 'a-token-nobody-may-read';

/** Looks like the document of the endpoint. */
const HOLLOW = {
  ...{ telemetry: { enabled: true, exporting: true }, spec: { active: '', override: null } },
  ...{ enabled: [], pending: [], groups: [] },
};

describe('a command that fails', () => {
  guardEachTest();
  const servers: ReturnType<typeof createServer>[] = [];
  afterEach(() => servers.splice(0).forEach((server) => server.close()));

  async function serve(listener: RequestListener): Promise<string> {
    const server = createServer(listener);
    servers.push(server);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  }

  const answers = (status: number, body: string, headers: Record<string, string> = {}): Promise<string> =>
    serve((_, response) => response.writeHead(status, headers).end(body));

  it.each<[name: string, url: () => Promise<string>, message: RegExp]>([
    [
      'a server that is away',
      async () => 'http://127.0.0.1:9',
      /Nothing answers at .*Is the application running/,
    ],
    ['401', () => answers(401, '{}'), /refuses \(401\): its guards do not accept NEST_LENS_TOKEN/],
    ['403', () => answers(403, 'no'), /refuses \(403\)/],
    ['404', () => answers(404, '{"message":"Cannot GET"}'), /no endpoint at .* \(404\): is there a prefix/],
    ['409', () => answers(409, '{"message":"pinned\\u001b[2J"}'), /answers 409: pinned\\u001b\[2J/],
    ['500', () => answers(500, '<html>'), /answers 500\n/],
    [
      'a redirect',
      () => answers(302, '', { location: 'https://login' }),
      /redirects to https:\/\/login \(302\)/,
    ],
    [
      'no JSON',
      () => answers(200, '<html>', { 'content-type': 'text/html' }),
      /not as NestLens does \(text\/html\)/,
    ],
    ['other JSON', () => answers(200, '{"groups":{}}'), /not as NestLens does/],
    ['null', () => answers(200, 'null'), /not as NestLens does/],
    [
      'a list of nothing',
      () => answers(200, JSON.stringify({ ...HOLLOW, warnings: [null] })),
      /not as NestLens does/,
    ],
    ['an answer that breaks off', () => answers(200, '{', { 'content-length': '9' }), /broke/],
    ['a broken connection', () => serve((request) => request.socket.destroy()), /Nothing answers/],
  ])('says in one line that it met %s', async (_, url, message) => {
    const found = await run(['groups', '--url', await url()], { NEST_LENS_TOKEN: TOKEN });
    expect([found.code, found.out]).toEqual([1, '']);
    expect(found.err).toMatch(message);
    expect(found.err).toMatch(/^nest-lens: [^\n]+\n$/);
    expect(found.err).not.toContain(TOKEN);
  });

  it.each<[args: string[], message: RegExp]>([
    [['groups', 'orders'], /takes no names, but got 'orders'\. To see one group, use nest-lens group orders/],
    [['watch', 'orders'], /nest-lens watch takes no names/],
    [['groups'], /Name the process to ask/],
    [['groups', '--url', 'localhost:3000'], /--url is 'localhost:3000'/],
    [['groups', '--url', 'http://u:secret@h'], /credentials in it/],
    [['groups', '--url'], /argument missing/],
    [['on', '--url', 'http://127.0.0.1:9'], /Name the groups to turn on/],
    [['on', 'a', '--for', '2d', '--url', 'http://127.0.0.1:9'], /--for is '2d'/],
    [['preview', '--seconds', '301', '--url', 'http://127.0.0.1:9'], /--seconds is '301'/],
    [['sign', '--groups', '-a'], /argument is ambiguous/],
    [['wacht'], /Did you mean 'watch'/],
    [['__proto__'], /is not a command/],
  ])('says what is wrong with %j', async (args, message) => {
    const found = await run(args, { NEST_LENS_SIGNING_KEY: 'k' });
    expect([found.code, found.out]).toEqual([1, '']);
    expect(found.err).toMatch(message);
    expect(found.err).toMatch(/^nest-lens: [^\n]+\n$/);
    expect(found.err).not.toContain('secret');
  });

  it('says that a token can be in no header, without the token', async () => {
    const found = await run(['groups', '--url', 'http://127.0.0.1:9'], { NEST_LENS_TOKEN: 'se\ncret' });
    expect(found.err).toBe('nest-lens: NEST_LENS_TOKEN has characters that a header cannot carry.\n');
  });

  it('says that an application lets nobody change anything', async () => {
    const lens = await lensApp(express)
      .withoutRoot()
      .imports(NestLensModule.forRoot({ config: { enabled: false } }))
      .start();
    const found = await run(['on', 'all', '--url', lens.url('')]);
    expect(found.err).toMatch(/no such route at .* \(404\): changes need introspection.runtimeControl/);
    expect((await run(['groups', '--url', lens.url('')])).out).toContain('Telemetry is disabled');
  });

  it('is coloured on a terminal only, and not with NO_COLOR', async () => {
    const lens = await lensApp(express).groups('orders').start();
    const args = ['groups', '--url', lens.url('')];
    expect((await run(args, {}, true)).out).toContain('\u001B[32mon\u001B[0m');
    expect((await run(args, { NO_COLOR: '1' }, true)).out).not.toContain('\u001B');
    expect((await run(args, { TERM: 'dumb' }, true)).out).not.toContain('\u001B');
    expect((await run(args)).out).not.toContain('\u001B');
  });
});
