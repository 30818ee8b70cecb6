// The real binary against a real application.
import { execFile } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { type CanActivate, Controller, type ExecutionContext, Get, Injectable } from '@nestjs/common';
import { SpanGroup } from 'nest-lens';
import { verifyText, secretKey } from '../../src/core/opt-in/signed-groups.js';
import { VERSION } from '../../src/core/state/version.js';
import { express, fastify } from '../support/adapters.js';
import { guardEachTest, type LensApp, lensApp } from '../support/lens-app.js';
import { type CommandOutcome, runCommand, runInProcess, RunningCommand } from '../support/run-command.js';

vi.setConfig({ testTimeout: 120_000 });

const TOKEN = 'let-me-in';
const KEY = 'k'.repeat(32);

@Injectable()
class Guard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    const { headers } = context.switchToHttp().getRequest<{ headers: Record<string, unknown> }>();
    return headers['authorization'] === `Bearer ${TOKEN}`;
  }
}

@Controller('orders')
class OrdersController {
  @Get()
  @SpanGroup('orders')
  list(): string {
    return 'list';
  }
}

const HOSTILE = 'red\u001B[31m\u202E';
const shop = {
  namespace: 'shop',
  groups: ['orders', 'db_query', 'cache', HOSTILE],
  presets: { default: ['orders'], per_request: ['orders', 'db_query'] },
};

describe('npx nest-lens', () => {
  guardEachTest();
  const commands: RunningCommand[] = [];
  afterEach(() => commands.splice(0).forEach(({ child }) => child.kill('SIGKILL')));

  const start = (spec = 'default', platform = express): Promise<LensApp> =>
    lensApp(platform)
      .controllers(OrdersController)
      .forRoot({
        registrations: [shop],
        introspection: { guards: [Guard], runtimeControl: { by: () => 'anna' } },
      })
      .spec(spec)
      .start();
  const run = (lens: LensApp, ...args: string[]): Promise<CommandOutcome> =>
    runCommand([...args, '--url', lens.url('')], { NEST_LENS_TOKEN: TOKEN });
  const inProcess = (lens: LensApp, ...args: string[]): Promise<CommandOutcome> =>
    runInProcess([...args, '--url', lens.url('')], { NEST_LENS_TOKEN: TOKEN });
  const documentOf = async (lens: LensApp): Promise<any> =>
    (await lens.get('/lens/groups', { headers: { authorization: `Bearer ${TOKEN}` } })).json();

  it('groups: a table for a person, without colours where it is no terminal, and the document for a script', async () => {
    const lens = await start();
    const [table, json] = await Promise.all([run(lens, 'groups'), inProcess(lens, 'groups', '--json')]);
    expect([table.code, table.err]).toEqual([0, '']);
    expect(table.out).toMatch(/^GROUP +IS +BECAUSE OF +SITES +PRESETS\n/);
    expect(table.out).toMatch(/^orders +on +default +1 +default, per_request$/m);
    expect(table.out).toMatch(/^db_query +off +0 +per_request$/m);
    expect(table.out).toContain('Spec: default, from options');
    for (const control of ['\u001B', '\u202E']) expect(table.out).not.toContain(control);
    // Two seconds after the start one more warning comes.
    const { warnings: _, ...document } = await documentOf(lens);
    expect([json.code, JSON.parse(json.out)]).toEqual([0, expect.objectContaining(document)]);
  });

  it('groups: exit code 2 where something is pending, on both platforms and in both module formats', async () => {
    const lens = await start('default,db_querry', fastify);
    const [found, asJson] = await Promise.all([
      runCommand(['groups'], { NEST_LENS_TOKEN: TOKEN, NEST_LENS_URL: `${lens.url('/lens/groups')}` }, 'cjs'),
      inProcess(lens, 'groups', '--json'),
    ]);
    expect([found.code, asJson.code]).toEqual([2, 2]);
    expect(found.out).toMatch(/Pending, .*: db_querry/);
  });

  it('group: shows one with its sites; an unknown one is an error that names the nearest', async () => {
    const lens = await start();
    const [one, unknown, none] = await Promise.all([
      run(lens, 'group', 'orders'),
      inProcess(lens, 'group', 'db_querry'),
      runInProcess(['group']),
    ]);
    expect(one.code).toBe(0);
    expect(one.out).toMatch(/turned on by +.*per_request/);
    expect(one.out).toMatch(/^OrdersController\.list +handler +GET \/orders$/m);
    expect([unknown.code, unknown.out]).toEqual([1, '']);
    expect(unknown.err).toMatch(/^nest-lens: .*'db_querry'.*db_query.*\n$/);
    expect([none.code, none.err]).toEqual([1, 'nest-lens: Name one group. See nest-lens group --help\n']);
  });

  it('on and off: put a spec over the one in force for a while, and take it away', async () => {
    const lens = await start();
    const on = await run(lens, 'on', 'db_query', '--for', '10m');
    expect([on.code, on.err]).toEqual([0, '']);
    const { spec, enabled } = await documentOf(lens);
    expect([spec.override.spec, enabled]).toEqual(['db_query', ['db_query']]);
    const endsIn = Date.parse(spec.override.expiresAt) - Date.now();
    expect(endsIn).toBeGreaterThan(500_000);
    expect(endsIn).toBeLessThanOrEqual(600_000);
    expect(on.out).toContain(`Spec: db_query, an override until ${spec.override.expiresAt}`);

    expect((await inProcess(lens, 'on', 'cache', 'nobody', '--add')).code).toBe(2);
    expect((await documentOf(lens)).enabled).toEqual(['cache', 'db_query']);
    await inProcess(lens, 'off', 'db_query');
    expect((await documentOf(lens)).spec.override.spec).toBe('cache,nobody,-db_query');
    await inProcess(lens, 'on', 'db_query', '--add');
    expect((await documentOf(lens)).enabled).toEqual(['cache', 'db_query']);

    const off = await run(lens, 'off', '--json');
    expect([off.code, JSON.parse(off.out).spec.override, JSON.parse(off.out).enabled]).toEqual([
      0,
      null,
      ['orders'],
    ]);
  });

  it('watch: shows the groups and each change, says when the server is away, and ends at Ctrl-C', async () => {
    const lens = await start();
    const url = lens.url('');
    const watching = new RunningCommand(['watch', '--every', '50ms', '--url', url], {
      NEST_LENS_TOKEN: TOKEN,
    });
    commands.push(watching);
    await watching.says(/Spec: default/);
    await inProcess(lens, 'on', 'db_query');
    await watching.says(/Spec: db_query, an override until \S+, by anna/);
    await watching.says(/db_query is on/);
    await watching.says(/orders is off/);
    await lens.close();
    await watching.says(/Nothing answers at/);
    watching.child.kill('SIGINT');
    const { code, err } = await watching.outcome;
    expect([code, err.match(/Nothing answers/g)]).toEqual([0, ['Nothing answers']]);
  });

  it('sign: makes a header with the key in the variable, and takes none from the command line', async () => {
    const env = { NEST_LENS_SIGNING_KEY: KEY };
    const [plain, json, noKey, onLine] = await Promise.all([
      runCommand(['sign', '--groups', 'db_query,orders', '--for', '10m'], env),
      runInProcess(['sign', '--groups', 'all', '--json'], env),
      runInProcess(['sign', '--groups', 'all']),
      runInProcess(['sign', '--groups', 'all', '--key', KEY], env),
    ]);
    const verified = verifyText(plain.out.trim(), [secretKey(KEY)], Date.now()) as any;
    expect([plain.code, plain.err, verified.spec]).toEqual([0, '', 'db_query,orders']);
    expect(Math.abs(verified.expiresAt - Date.now() - 600_000)).toBeLessThan(60_000);
    const { header, value, expiresAt } = JSON.parse(json.out);
    expect([header, value]).toEqual([
      'x-lens-groups',
      expect.stringContaining(`exp=${Date.parse(expiresAt)};`),
    ]);
    expect([noKey.code, onLine.code]).toEqual([1, 1]);
    expect(noKey.err).toContain('NEST_LENS_SIGNING_KEY is not set');
    expect(onLine.err).not.toContain(KEY);
  });

  it('needs no other package: it runs where nothing but NestLens is', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'nest-lens-'));
    cpSync(fileURLToPath(new URL('../../dist/node', import.meta.url)), folder, { recursive: true });
    const { stdout } = await promisify(execFile)(
      process.execPath,
      [join(folder, 'cli/bin.js'), 'sign', 'a'],
      {
        env: { NEST_LENS_SIGNING_KEY: KEY },
      },
    );
    rmSync(folder, { recursive: true });
    expect(stdout).toMatch(/^a;exp=\d+;sig=/);
  });

  it('says its version, and help for each command', async () => {
    const names = ['groups', 'group', 'on', 'off', 'preview', 'watch', 'sign'];
    const [version, all, ...each] = await Promise.all(
      [['--version'], ['--help'], ...names.map((name) => [name, '--help'])].map((args) => runInProcess(args)),
    );
    expect(version!.out).toBe(`${VERSION}\n`);
    for (const name of names) expect(all!.out).toMatch(new RegExp(`^  ${name} `, 'm'));
    expect(each.map(({ code, out }) => [code, /^Usage: nest-lens (\w+)/.exec(out)?.[1]])).toEqual(
      names.map((name) => [0, name]),
    );
  });
});
