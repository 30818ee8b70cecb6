import { describe, expect, it } from 'vitest';
import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import type { IntrospectionOptions, RuntimeControlOptions } from 'nest-lens';
import { onEachPlatform } from '../../support/adapters.js';
import { lensApp, type LensApp } from '../../support/lens-app.js';

const headersOf = (context: ExecutionContext): Record<string, string> =>
  context.switchToHttp().getRequest<{ headers: Record<string, string> }>().headers;

@Injectable()
class MayLook implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    return headersOf(context)['x-role'] !== undefined;
  }
}

/** Puts on the request who it is, as guards do. */
@Injectable()
class MayChange implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    const { 'x-role': role, 'x-user': user } = headersOf(context);
    Object.assign(context.switchToHttp().getRequest<object>(), { user: { name: user } });
    return role === 'operator';
  }
}

const shop = { namespace: 'shop', groups: ['orders', 'payment'], presets: { default: ['orders'] } };

onEachPlatform('PUT and DELETE /lens/groups', (platform) => {
  const start = (introspection: IntrospectionOptions): Promise<LensApp> =>
    lensApp(platform)
      .forRoot({ registrations: [shop], introspection })
      .spec('default')
      .start();
  const controlled = (runtimeControl: boolean | RuntimeControlOptions): Promise<LensApp> =>
    start({ guards: [MayLook], runtimeControl });
  const put = (lens: LensApp, headers: Record<string, string> = {}, body: object = { spec: 'payment' }) =>
    lens.request('PUT', '/lens/groups', { body, headers: { 'x-role': 'operator', ...headers } });
  const clear = (lens: LensApp, headers: Record<string, string> = {}) =>
    lens.request('DELETE', '/lens/groups', { headers: { 'x-role': 'operator', ...headers } });
  const changesOf = async (lens: LensApp): Promise<any[]> =>
    (await lens.get('/lens/groups', { headers: { 'x-role': 'guest' } })).json().changes;
  const lines = (lens: LensApp): string[] =>
    lens.logLines
      .map(({ level, text }) => `${level}: ${text}`)
      .filter((line) => line.includes('changed from'));

  describe('who may', () => {
    it('who may look may not change, where changing has guards of its own', async () => {
      const lens = await controlled({ guards: [MayChange] });
      const statuses = async (role?: string): Promise<number[]> => {
        const headers: Record<string, string> = role === undefined ? {} : { 'x-role': role };
        const replies = [
          await lens.get('/lens/groups', { headers }),
          await lens.get('/lens/groups/orders', { headers }),
          await lens.request('PUT', '/lens/groups', { headers, body: { spec: 'payment' } }),
          await lens.request('DELETE', '/lens/groups', { headers }),
        ];
        return replies.map(({ status }) => status);
      };

      expect(await statuses()).toEqual([403, 403, 403, 403]);
      expect(await statuses('guest')).toEqual([200, 200, 403, 403]);
      expect(await changesOf(lens)).toEqual([]);
      expect(await statuses('operator')).toEqual([200, 200, 200, 200]);
    });

    it('looking can be open to everybody', async () => {
      const lens = await start({ runtimeControl: { guards: [MayChange] } });

      expect((await lens.get('/lens/groups')).status).toBe(200);
      expect((await put(lens, { 'x-role': 'guest' })).status).toBe(403);
      expect((await put(lens)).status).toBe(200);
    });

    it('instances can be guards, too, and the guards of the endpoint come first', async () => {
      const asked: string[] = [];
      const guard = (name: string): CanActivate => ({ canActivate: () => asked.push(name) > 0 });
      const lens = await start({ guards: [guard('look')], runtimeControl: { guards: [guard('change')] } });
      await put(lens);

      expect(asked).toEqual(['look', 'change']);
    });

    it.each<[string, object]>([
      ['an object without guards', {}],
      ['an empty list', { guards: [] }],
      ['a name alone', { by: () => 'anna' }],
    ])('H12: %s is no guard: the application refuses to start', async (_what, runtimeControl) => {
      await expect(start({ runtimeControl })).rejects.toMatchObject({ code: 'RUNTIME_CONTROL_UNGUARDED' });
      await expect(start({ guards: [], runtimeControl })).rejects.toMatchObject({
        code: 'RUNTIME_CONTROL_UNGUARDED',
      });
      expect((await put(await start({ guards: [MayLook], runtimeControl }))).status).toBe(200);
    });
  });

  describe('what was changed', () => {
    it('each change is in the document, and is one line of the log', async () => {
      const lens = await controlled({ by: (request) => request.headers['x-user'] });
      const { spec } = (await put(lens, { 'x-user': 'anna' })).json();
      await put(lens, { 'x-user': 'bert' }, { spec: 'all', ttlSeconds: 60 });
      await clear(lens, { 'x-user': 'carla' });
      await clear(lens, { 'x-user': 'dora' });
      const changes = await changesOf(lens);

      expect(changes).toEqual([
        {
          at: expect.any(String),
          before: 'default',
          after: 'payment',
          until: spec.override.expiresAt,
          by: 'anna',
        },
        { at: expect.any(String), before: 'payment', after: 'all', until: expect.any(String), by: 'bert' },
        { at: expect.any(String), before: 'all', after: 'default', until: null, by: 'carla' },
      ]);
      expect(Date.parse(changes[1].until) - Date.parse(changes[1].at)).toBeCloseTo(60_000, -3);
      expect(lines(lens)).toEqual([
        `log: The span group spec in force changed from 'default' to 'payment', until ${changes[0].until}, by anna. NestLens`,
        `log: The span group spec in force changed from 'payment' to 'all', until ${changes[1].until}, by bert. NestLens`,
        `log: The span group spec in force changed from 'all' to 'default', by carla. NestLens`,
      ]);
    });

    it('an override that ends by itself is there as well', async () => {
      const lens = await controlled(true);
      await put(lens, {}, { spec: 'payment', ttlSeconds: 0.05 });
      await new Promise((resolve) => setTimeout(resolve, 80));

      expect(await changesOf(lens)).toMatchObject([
        { after: 'payment', by: null },
        { before: 'payment', after: 'default', until: null, by: '(expired)' },
      ]);
      expect(lines(lens)).toHaveLength(2);
    });

    it('what is refused is no change', async () => {
      const lens = await controlled(true);
      await put(lens, {}, { spec: 7 });
      await put(lens, {}, { spec: 'payment', ttlSeconds: -1 });

      expect(await changesOf(lens)).toEqual([]);
      expect(lines(lens)).toEqual([]);
    });
  });

  describe('by', () => {
    it('gets the request when the guards are done with it', async () => {
      const lens = await controlled({ guards: [MayChange], by: (request) => request.user.name });
      await put(lens, { 'x-user': 'anna' });

      expect(await changesOf(lens)).toMatchObject([{ by: 'anna' }]);
    });

    it.each<[unknown, string | null]>([
      [42, '42'],
      [' anna ', 'anna'],
      ['', null],
      [undefined, null],
      [null, null],
      ['a\nb\u202e', 'a\\nb\\u202e'],
      ['x'.repeat(10_000), `${'x'.repeat(200)}… (10000 characters)`],
    ])('may say %j', async (given, by) => {
      const lens = await controlled({ by: () => given as never });
      expect((await put(lens)).status).toBe(200);
      expect(await changesOf(lens)).toMatchObject([{ by }]);
      expect(lens.warnings).toEqual([]);
    });

    const failing: [string, () => unknown][] = [
      ['throws', () => { throw new Error('no user'); }], // prettier-ignore
      ['throws what cannot be printed', () => { throw Object.create(null); }], // prettier-ignore
      ['returns a promise', () => Promise.resolve('anna')],
      ['returns a promise that rejects', () => Promise.reject(new Error('no user'))],
      ['returns an object', () => ({ name: 'anna' })],
      ['returns a symbol', () => Symbol('anna')],
      ['returns a thenable that must not be called', () => ({ then: () => { throw new Error('called'); } })], // prettier-ignore
    ];
    it.each(failing)('that %s hurts nobody: the change is made, and warned about once', async (_what, by) => {
      const lens = await controlled({ by: by as never });
      expect((await put(lens)).status).toBe(200);
      expect((await clear(lens)).status).toBe(200);

      expect(await changesOf(lens)).toMatchObject([{ by: null }, { by: null }]);
      expect(lens.warnings.map(({ code }) => code)).toEqual(['CHANGE_AUTHOR_UNKNOWN']);
    });
  });
});
