import http from 'node:http';
import { gzipSync } from 'node:zlib';
import { afterEach, describe, expect, it } from 'vitest';
import type { CanActivate, NestApplicationOptions } from '@nestjs/common';
import { processState } from '../../../src/core/state/process-state.js';
import { express, type HttpPlatform, onEachPlatform } from '../../support/adapters.js';
import { guardEachTest, lensApp, type LensApp } from '../../support/lens-app.js';
import { type RawReply, type RawRequest, sendRaw } from '../../support/raw-request.js';

class Everybody implements CanActivate {
  canActivate(): boolean {
    return true;
  }
}

const shop = { namespace: 'shop', groups: ['orders', 'payment'], presets: { default: ['orders'] } };
const JSON_TYPE = { 'content-type': 'application/json' };
const json = (body: unknown): RawRequest => ({
  method: 'PUT',
  headers: JSON_TYPE,
  body: typeof body === 'string' ? body : JSON.stringify(body),
});
const asked = (body: unknown): RawRequest => ({ ...json(body), method: 'POST' });
const padded = (bytes: number): string => JSON.stringify({ spec: 'payment' }).padEnd(bytes);

/** Title, request, status, what the message says. */
type Attack = [what: string, request: RawRequest, status: number, says?: RegExp];

const attacks: Attack[] = [
  ['no body', { method: 'PUT', headers: JSON_TYPE }, 400],
  ['an empty body', json(''), 400],
  ['half an object', json('{"spec":"pay'), 400],
  ['a string', json('"payment"'), 400],
  ['null', json('null'), 400],
  ['a list', json([{ spec: 'payment' }]), 400, /must be a JSON object, not an array/],
  ['an empty object', json({}), 400, /^spec must be a string of at most 1000 characters/],
  ['a number for the spec', json({ spec: 7 }), 400, /^spec must be a string.*, not 7\.$/],
  ['null for the spec', json({ spec: null }), 400, /^spec must be a string.*, not null\.$/],
  ['a list for the spec', json({ spec: ['payment'] }), 400, /^spec must be a string.*, not an array\.$/],
  ['an object for the spec', json({ spec: { length: 1 } }), 400, /^spec must be .*, not an object\.$/],
  [
    'a spec of 1,001 characters',
    json({ spec: 'x'.repeat(1_001) }),
    400,
    /^spec has 1001 characters; at most 1000 are allowed/,
  ],
  [
    'a hundred and one wildcards',
    json({ spec: Array.from({ length: 101 }, (_, at) => `x${at}*`).join() }),
    400,
    /^spec has 101 entries with '\*'; at most 100 are allowed/,
  ],
  ['no time at all', json({ spec: 'payment', ttlSeconds: 0 }), 400, /^ttlSeconds .* above 0 .*, not 0\.$/],
  ['a time below 0', json({ spec: 'payment', ttlSeconds: -1 }), 400, /^ttlSeconds .* not -1\.$/],
  ['more than a day', json({ spec: 'payment', ttlSeconds: 86_401 }), 400, /at most 86400, not 86401\.$/],
  ['an endless time', json('{"spec":"payment","ttlSeconds":1e999}'), 400, /not Infinity\.$/],
  [
    'a time in a string',
    json({ spec: 'payment', ttlSeconds: '900' }),
    400,
    /^ttlSeconds .* the string '900'\.$/,
  ],
  ['null for the time', json({ spec: 'payment', ttlSeconds: null }), 400, /^ttlSeconds .* not null\.$/],
  ['true for the time', json({ spec: 'payment', ttlSeconds: true }), 400, /^ttlSeconds .* not true\.$/],
  [
    'a misspelt time',
    json({ spec: 'payment', ttlSecond: 60 }),
    400,
    /^ttlSecond is not known; .* Did you mean 'ttlSeconds'\?$/,
  ],
  ['a key too many', json({ spec: 'payment', groups: ['orders'] }), 400, /^groups is not known/],
  ['a spec that is inherited', json('{"__proto__":{"spec":"payment"}}'), 400],
  ['a constructor', json('{"spec":"payment","constructor":{"prototype":{"x":1}}}'), 400],
  ['a key that breaks lines', json({ 'a\nb\u202e': 1, spec: 'payment' }), 400, /^a\\nb\\u202e is not known/],
  ['UTF-16', json(Buffer.from('{"spec":"payment"}', 'utf16le').toString('latin1')), 400],
  [
    'a form',
    { method: 'PUT', headers: { 'content-type': 'application/x-www-form-urlencoded' }, body: 'spec=payment' },
    415,
  ],
  [
    'plain text',
    { method: 'PUT', headers: { 'content-type': 'text/plain' }, body: '{"spec":"payment"}' },
    415,
  ],
  ['a body of no type', { method: 'PUT', body: '{"spec":"payment"}' }, 415],
  [
    'JSON of another kind',
    { method: 'PUT', headers: { 'content-type': 'application/jsonp' }, body: '{"spec":"payment"}' },
    415,
  ],
  [
    'parts',
    { method: 'PUT', headers: { 'content-type': 'multipart/form-data; boundary=a' }, body: '--a--' },
    415,
  ],
  ['16,385 bytes', json(padded(16_385)), 413, /more than 16384 bytes/],
  ['17 KB of spec', json({ spec: 'x'.repeat(17_000) }), 413],
  ['90 KB of other keys', json({ spec: 'payment', more: 'x'.repeat(90_000) }), 413],
  ['2 MB', json(padded(2_000_000)), 413],
  [
    '20 KB in pieces',
    { method: 'PUT', headers: JSON_TYPE, body: ['{"spec":"', 'x'.repeat(20_000), '"}'] },
    413,
  ],
  ['a thousand brackets', json('['.repeat(1_000) + ']'.repeat(1_000)), 400],
  ['forty thousand brackets', json('['.repeat(40_000) + ']'.repeat(40_000)), 413],
];

const previewAttacks: Attack[] = [
  ['no groups', asked({ seconds: 1 }), 400, /^groups is missing/],
  [
    'groups and a spec',
    asked({ groups: ['orders'], spec: 'orders' }),
    400,
    /^spec cannot be combined with groups/,
  ],
  [
    'one group, not a list',
    asked({ groups: 'orders' }),
    400,
    /^groups must be a list .* the string 'orders'\.$/,
  ],
  ['an empty list', asked({ groups: [] }), 400, /^groups must be a list .* not empty/],
  [
    'a list of lists',
    asked({ groups: ['orders', ['payment']] }),
    400,
    /^groups\[1\] must be a string, not an array/,
  ],
  [
    'a thousand unknown names',
    asked({ groups: Array.from({ length: 1_000 }, (_, at) => `x${at}`) }),
    400,
    /^groups has /,
  ],
  ['a number for the spec', asked({ spec: 7 }), 400, /^spec must be a string/],
  [
    '301 seconds',
    asked({ seconds: 301, groups: ['orders'] }),
    400,
    /^seconds must be .* at most 300, not 301\.$/,
  ],
  ['no seconds', asked({ seconds: 0, groups: ['orders'] }), 400, /^seconds must be a number above 0/],
  ['endless seconds', asked('{"seconds":1e999,"groups":["orders"]}'), 400, /^seconds .* not Infinity\.$/],
  [
    'seconds in a string',
    asked({ seconds: '30', groups: ['orders'] }),
    400,
    /^seconds .* not the string '30'\.$/,
  ],
  ['a misspelt key', asked({ second: 1, groups: ['orders'] }), 400, /^second is not known; .* 'seconds'/],
  ['no body', { method: 'POST', headers: JSON_TYPE }, 400],
  [
    'a form',
    { method: 'POST', headers: { 'content-type': 'text/plain' }, body: '{"groups":["orders"]}' },
    415,
  ],
  ['16,385 bytes', asked(JSON.stringify({ groups: ['orders'] }).padEnd(16_385)), 413],
];

const { setTimeout: arm, clearTimeout: disarm } = globalThis;

/** Timers of about one hour that are armed from now on; a timer that was unref'd is in no list of Node's. */
function watchHourTimers(): { readonly armed: number; readonly live: ReadonlySet<unknown> } {
  const watched = { armed: 0, live: new Set<unknown>() };
  globalThis.setTimeout = ((callback: (...given: unknown[]) => void, ms?: number, ...given: unknown[]) => {
    const timer = arm(() => callback(...given), ms);
    if (!(ms! > 3_500_000)) return timer;
    watched.armed += 1;
    watched.live.add(timer);
    return timer;
  }) as typeof setTimeout;
  globalThis.clearTimeout = (timer) => {
    watched.live.delete(timer);
    disarm(timer);
  };
  return watched;
}

afterEach(() => void Object.assign(globalThis, { setTimeout: arm, clearTimeout: disarm }));

const startOn = (platform: HttpPlatform, options: NestApplicationOptions = {}): Promise<LensApp> =>
  lensApp(platform)
    .applicationOptions(options)
    .forRoot({ registrations: [shop], introspection: { guards: [Everybody], runtimeControl: true } })
    .spec('default')
    .start();
const documentOf = async (lens: LensApp): Promise<any> => (await lens.get('/lens/groups')).json();

onEachPlatform('bad input to the endpoint', (platform) => {
  const start = (options?: NestApplicationOptions): Promise<LensApp> => startOn(platform, options);

  it.each([
    ['/lens/groups', attacks],
    ['/lens/groups/preview', previewAttacks],
  ])(
    'each line of the attack list for %s is refused, says what is wrong, and changes nothing',
    async (path, list) => {
      const lens = await start();
      const outcomes: unknown[] = [];
      for (const [what, request, , says] of list) {
        const reply: RawReply = await sendRaw(lens.url(path), request);
        const { message, where } = JSON.parse(reply.text);
        const isSaid = says === undefined ? message.length > 0 : says.test(message);
        if (where !== undefined) expect(message.startsWith(where)).toBe(true);
        outcomes.push([what, reply.status, isSaid ? 'is said' : message]);
      }

      expect(outcomes).toEqual(list.map(([what, , status]) => [what, status, 'is said']));
      expect(await documentOf(lens)).toMatchObject({
        enabled: ['orders'],
        spec: { active: 'default', override: null },
        changes: [],
      });
      expect(processState.preview).toBeUndefined();
      expect(({} as { x?: number }).x).toBeUndefined();
    },
    30_000,
  );

  it('20 KB that were packed into 100 bytes are refused', async () => {
    const lens = await start();
    const body = gzipSync(JSON.stringify({ spec: 'payment', more: 'x'.repeat(20_000) }));
    const reply = await sendRaw(lens.url('/lens/groups'), {
      method: 'PUT',
      headers: { ...JSON_TYPE, 'content-encoding': 'gzip' },
      body,
    });

    // Fastify reads no packed bodies.
    expect(reply.status).toBe(platform.name === 'Express' ? 413 : 400);
    expect((await documentOf(lens)).changes).toEqual([]);
  });

  it('an application without a parser of bodies says so', async () => {
    const lens = await start({ bodyParser: false });
    const reply = await lens.request('PUT', '/lens/groups', { body: { spec: 'payment' } });

    // Fastify has a parser for JSON of its own.
    if (platform.name === 'Express') {
      expect([reply.status, reply.json().message]).toEqual([
        400,
        expect.stringContaining('bodyParser: false'),
      ]);
    } else expect(reply.status).toBe(200);
  });

  it('what is allowed is taken, up to its limit', async () => {
    const lens = await start();
    const allowed: RawRequest[] = [
      json(padded(16_384)),
      json({ spec: `payment,${'x'.repeat(992)}`, ttlSeconds: 86_400 }),
      {
        ...json({ spec: 'payment', ttlSeconds: 1e-6 }),
        headers: { 'content-type': 'Application/JSON; charset=utf-8' },
      },
      { method: 'PUT', headers: JSON_TYPE, body: ['{"spec":', '"orders"}'] },
      json({ spec: '' }),
    ];
    for (const request of allowed) {
      expect((await sendRaw(lens.url('/lens/groups'), request)).status).toBe(200);
    }
  });

  it('S5: unknown groups are pending, whatever they are called', async () => {
    const lens = await start();
    const spec = 'payment,<img onerror=alert(1)>,\u202egnp.exe,__proto__,oders';
    const reply = await lens.request('PUT', '/lens/groups', { body: { spec } });

    expect(reply.status).toBe(200);
    expect(reply.headers['content-type']).toMatch(/^application\/json/);
    expect(reply.json()).toMatchObject({ enabled: ['payment'], spec: { active: spec } });
    expect(reply.json().pending).toHaveLength(4);
  });
});

describe('changes of the spec at once', () => {
  guardEachTest();

  it('T7: a thousand concurrent changes leave one of them in force, and no timer behind', async () => {
    const lens = await startOn(express);
    const hourTimers = watchHourTimers();
    const agent = new http.Agent({ keepAlive: true, maxSockets: 50 });
    const change = (at: number): Promise<RawReply> =>
      at % 10 === 9
        ? sendRaw(lens.url('/lens/groups'), { method: 'DELETE', agent })
        : sendRaw(lens.url('/lens/groups'), {
            ...json({ spec: `payment,x${at}`, ttlSeconds: 3_600 }),
            agent,
          });
    const replies = await Promise.all(Array.from({ length: 1_000 }, (_, at) => change(at)));
    await change(1_000);
    const { spec, changes } = await documentOf(lens);

    expect(replies.filter(({ status }) => status !== 200)).toEqual([]);
    expect(hourTimers.armed).toBe(901);
    expect(hourTimers.live.size).toBe(1);
    expect(spec).toMatchObject({ active: 'payment,x1000', override: { spec: 'payment,x1000' } });
    expect(changes).toHaveLength(50);
    expect(changes[49]).toMatchObject({ after: 'payment,x1000', until: spec.override.expiresAt });

    await sendRaw(lens.url('/lens/groups'), { method: 'DELETE' });
    expect(hourTimers.live.size).toBe(0);
    expect((await documentOf(lens)).spec).toMatchObject({ active: 'default', override: null });
    agent.destroy();
  }, 60_000);
});
