import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import {
  type CallHandler,
  type CanActivate,
  type ExecutionContext,
  Injectable,
  UnauthorizedException,
} from '@nestjs/common';
import { type IntrospectionOptions, NestLensModule } from 'nest-lens';
import { map } from 'rxjs';
import { onEachPlatform } from '../../support/adapters.js';
import { guardEachTest, lensApp, type LensAppBuilder, setEnv } from '../../support/lens-app.js';

@Injectable()
class TokenGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    const { headers } = context.switchToHttp().getRequest<{ headers: Record<string, unknown> }>();
    if (headers['authorization'] === 'Bearer night-shift') return true;
    if (headers['authorization'] === undefined) throw new UnauthorizedException('Who are you?');
    return false;
  }
}

const sha256 = (text: string): string => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
const between = (html: string, start: RegExp, end: string): string => html.split(start)[1]!.split(end)[0]!;

onEachPlatform('GET /lens', (platform) => {
  const shop = (introspection: IntrospectionOptions): LensAppBuilder =>
    lensApp(platform).groups('<script>alert(1)</script>').forRoot({ introspection });

  it('is one document whose policy allows its own style and script, and nothing else', async () => {
    const app = await shop({ page: true }).start();
    const { status, headers, text } = await app.get('/lens');
    expect(status).toBe(200);
    expect(headers).toMatchObject({
      'content-type': 'text/html; charset=utf-8',
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
      'x-frame-options': 'DENY',
    });
    const policy = String(headers['content-security-policy']).split('; ');
    expect(policy).toEqual([
      "default-src 'none'",
      `script-src ${sha256(between(text, /<script[^>]*>/, '</script>'))}`,
      `style-src ${sha256(between(text, /<style[^>]*>/, '</style>'))}`,
      "connect-src 'self'",
      'img-src data:',
      "base-uri 'none'",
      "form-action 'none'",
      "frame-ancestors 'none'",
      "require-trusted-types-for 'script'",
      "trusted-types 'none'",
    ]);
    // Nothing from outside, no handler and no style in an attribute, nothing of the process.
    expect(text).not.toMatch(/(src|href)="(?!#|data:)|\son\w+=|\sstyle=|alert\(1\)/);
    expect(text.match(/<script/g)).toHaveLength(1);
  });

  it('offers what the endpoint has', async () => {
    const bodyOf = async (introspection: IntrospectionOptions): Promise<string> => {
      const app = await shop(introspection).start();
      const reply = await app.get('/lens', { headers: { authorization: 'Bearer night-shift' } });
      await app.close();
      return /<body[^>]*>/.exec(reply.text)![0];
    };
    expect(await bodyOf({ page: true })).toBe('<body>');
    expect(await bodyOf({ page: true, recentTraces: 1 })).toBe('<body data-traces>');
    expect(await bodyOf({ page: true, guards: [TokenGuard], runtimeControl: true })).toBe(
      '<body data-control>',
    );
  });

  it('gives whom the guards refuse the page with the status of the refusal, and no data', async () => {
    const app = await shop({ page: true, recentTraces: 1, guards: [TokenGuard] }).start();
    const stranger = await app.get('/lens');
    const other = await app.get('/lens', { headers: { authorization: 'Bearer x' } });
    const operator = await app.get('/lens', { headers: { authorization: 'Bearer night-shift' } });
    expect([stranger.status, other.status, operator.status]).toEqual([401, 403, 200]);
    expect(stranger.text).toBe(operator.text);
    expect(stranger.headers['content-security-policy']).toBe(operator.headers['content-security-policy']);
    for (const path of ['/lens/groups', '/lens/traces']) expect((await app.get(path)).status).toBe(401);
  });

  it('N7: follows path, prefix and version, and is no answer that an interceptor wraps', async () => {
    const app = await shop({ page: true, path: 'inside' })
      .configure((nest) => {
        nest.setGlobalPrefix('api');
        nest.useGlobalInterceptors({
          intercept: (_context: ExecutionContext, next: CallHandler) =>
            next.handle().pipe(map((data: unknown) => ({ data }))),
        });
      })
      .start();
    expect((await app.get('/api/inside')).text).toMatch(/^<!doctype html>/);
    expect((await app.get('/lens')).status).toBe(404);
  });
});

describe('H12: introspection.page and introspection.recentTraces without guards', () => {
  guardEachTest();
  const forRoot = (introspection: object) => () =>
    NestLensModule.forRoot({ introspection: introspection as IntrospectionOptions });

  it.each(['production', 'staging', ''])('stop the start where NODE_ENV is %j', (environment) => {
    setEnv({ NODE_ENV: environment });
    for (const introspection of [{ page: true }, { recentTraces: 1 }, { page: true, recentTraces: 100 }]) {
      expect(forRoot(introspection)).toThrow(expect.objectContaining({ code: 'INTROSPECTION_UNGUARDED' }));
      expect(forRoot({ ...introspection, guards: [TokenGuard] })).not.toThrow();
    }
    expect(forRoot({ page: true })).toThrow(/introspection\.page.*introspection\.guards.*NODE_ENV is/);
    // Those of runtime control guard its own routes only.
    const runtimeControl = { guards: [TokenGuard] };
    expect(forRoot({ page: true, runtimeControl })).toThrow(/UNGUARDED|introspection\.guards/);
    expect(forRoot({ page: false, recentTraces: 0 })).not.toThrow();
    expect(() =>
      NestLensModule.forRootAsync({ introspection: { page: true }, useFactory: () => ({}) }),
    ).toThrow(expect.objectContaining({ code: 'INTROSPECTION_UNGUARDED' }));
  });

  it('stop the start where NODE_ENV is not set', () => {
    delete process.env['NODE_ENV'];
    expect(forRoot({ page: true })).toThrow(/NODE_ENV is not set/);
  });

  it.each(['development', 'test'])('are obeyed where NODE_ENV is %s', (environment) => {
    setEnv({ NODE_ENV: environment });
    expect(forRoot({ page: true, recentTraces: 100 })).not.toThrow();
  });

  it.each<[object, RegExp]>([
    [{ page: 'yes' }, /introspection\.page must be true or false, not the string 'yes'/],
    [{ recentTraces: true }, /introspection\.recentTraces must be a whole number from 0 to 1000, not true/],
    [{ recentTraces: -1 }, /must be a whole number/],
    [{ recentTraces: 1.5 }, /must be a whole number/],
    [{ recentTraces: 1e9 }, /must be a whole number/],
    [{ recentTraces: '100' }, /must be a whole number/],
  ])('are refused when they are %j', (introspection, message) => {
    expect(forRoot(introspection)).toThrow(message);
  });
});
