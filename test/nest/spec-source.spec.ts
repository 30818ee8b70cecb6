import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { Controller, Get } from '@nestjs/common';
import {
  fileSpecSource,
  isSpanGroupEnabled,
  NestLensModule,
  type NestLensModuleOptions,
  SpanGroup,
} from 'nest-lens';
import { express, onEachPlatform } from '../support/adapters.js';
import { guardEachTest, lensApp, type LensApp, namesOf, setEnv, until } from '../support/lens-app.js';
import { ScriptedSource } from '../support/scripted-source.js';
import { makeFolder, swapIn } from '../support/spec-file.js';

vi.setConfig({ testTimeout: 20_000 });

@Controller()
class ShopController {
  @Get('orders')
  @SpanGroup('orders')
  orders(): string[] {
    return ['one'];
  }

  @Get('stock')
  @SpanGroup('stock')
  stock(): string[] {
    return ['tea'];
  }
}

const allow = { canActivate: () => true };
const shop = {
  registrations: [{ namespace: 'shop', groups: ['orders', 'stock'], presets: { default: ['orders'] } }],
};
/** An application whose configuration says nothing of the spec, which is left to the environment, and to the options. */
const appWith = (options: NestLensModuleOptions = {}, platform = express): Promise<LensApp> =>
  lensApp(platform)
    .withoutRoot()
    .imports(NestLensModule.forRoot({ ...shop, ...quiet(options) }))
    .controllers(ShopController)
    .start();
const quiet = (options: NestLensModuleOptions): NestLensModuleOptions => ({
  ...options,
  config: { enabled: true, exporter: 'none', metricsEnabled: false, ...options.config },
});

interface Shown {
  spec: { configured: string; source: string; active: string };
  enabled: string[];
  warnings: { code: string; message: string }[];
  changes: unknown[];
}
const shown = async (lens: LensApp): Promise<Shown> => (await lens.get('/lens/groups')).json() as Shown;
const codesOf = ({ warnings }: LensApp): string[] => warnings.map(({ code }) => code);
const fileWith = (spec: string): string => {
  const path = join(makeFolder(), 'span-groups');
  writeFileSync(path, spec);
  return path;
};
const saying = (spec: string | undefined, name?: string): ScriptedSource =>
  new ScriptedSource((source) => source.onSpec(spec), name);

onEachPlatform('NEST_LENS_SPAN_GROUPS_FILE', (platform) => {
  guardEachTest();

  it('is obeyed from the first request on, followed, and comes before the variable and below an override', async () => {
    const path = fileWith('stock\n');
    setEnv({ NEST_LENS_SPAN_GROUPS_FILE: path, NEST_LENS_SPAN_GROUPS: 'orders' });
    const builder = lensApp(platform);
    const lens = await builder
      .withoutRoot()
      .imports(
        NestLensModule.forRoot({
          ...quiet({}),
          ...shop,
          telemetry: builder.telemetry(),
          introspection: { guards: [allow], runtimeControl: true },
        }),
      )
      .controllers(ShopController)
      .start();
    await Promise.all([lens.get('/orders'), lens.get('/stock')]);
    expect(namesOf(await lens.spans())).toEqual(['ShopController.stock']);
    const source = 'NEST_LENS_SPAN_GROUPS_FILE';
    expect((await shown(lens)).spec).toMatchObject({ configured: 'stock', source, active: 'stock' });

    await lens.request('PUT', '/lens/groups', { body: { spec: 'all' } });
    swapIn(path, '-all');
    let document = await shown(lens);
    for (let round = 0; document.spec.configured !== '-all' && round < 40; round++) {
      await new Promise((resolve) => setTimeout(resolve, 50));
      document = await shown(lens);
    }
    expect(document.spec).toMatchObject({ configured: '-all', source, active: 'all' });
    expect(document.enabled).toEqual(['orders', 'stock']);
    await lens.request('DELETE', '/lens/groups');
    expect((await shown(lens)).enabled).toEqual([]);
    swapIn(path, 'orders');
    await until(() => isSpanGroupEnabled('orders'), 2_000);
    // What was in force when telemetry was set up is no change, and nor is what an override hides.
    expect((await shown(lens)).changes).toEqual([
      expect.objectContaining({ before: 'stock', after: 'all', by: null }),
      expect.objectContaining({ before: 'all', after: '-all', until: null, by: null }),
      expect.objectContaining({ before: '-all', after: 'orders', until: null, by: `(${source})` }),
    ]);
    expect(codesOf(lens)).toEqual([]);
  });
});

describe('where the spec comes from', () => {
  guardEachTest();

  it.each<[string, string, NestLensModuleOptions | (() => NestLensModuleOptions), Record<string, string>]>([
    ['default', 'default', {}, {}],
    ['NEST_LENS_SPAN_GROUPS', 'stock', {}, { NEST_LENS_SPAN_GROUPS: 'stock' }],
    ['options', 'stock', { config: { spanGroups: 'stock' } }, { NEST_LENS_SPAN_GROUPS: 'all' }],
    [
      'NEST_LENS_SPAN_GROUPS_FILE',
      'file',
      { config: { spanGroups: 'all' } },
      { NEST_LENS_SPAN_GROUPS_FILE: 'file' },
    ],
    [
      'NEMO_LENS_SPAN_GROUPS_FILE',
      'file',
      {},
      { NEMO_LENS_SPAN_GROUPS_FILE: 'file', NEST_LENS_SPAN_GROUPS: 'all' },
    ],
    [
      'WORKER_SPAN_GROUPS_FILE',
      'file',
      { env: { prefix: 'WORKER' } },
      { WORKER_SPAN_GROUPS_FILE: 'file', NEST_LENS_SPAN_GROUPS_FILE: '/other' },
    ],
    [
      'file:',
      'file',
      () => ({ config: { spanGroupsFile: fileWith('file') } }),
      { NEST_LENS_SPAN_GROUPS_FILE: '/other' },
    ],
    [
      'NEST_LENS_SPAN_GROUPS',
      'stock',
      { config: { spanGroupsFile: '' } },
      { NEST_LENS_SPAN_GROUPS_FILE: 'file', NEST_LENS_SPAN_GROUPS: 'stock' },
    ],
    [
      'file:',
      'file',
      () => ({ specSource: fileSpecSource(fileWith('file')) }),
      { NEST_LENS_SPAN_GROUPS: 'all' },
    ],
    [
      'flags',
      'stock',
      () => ({ specSource: saying('stock', 'flags') }),
      { NEST_LENS_SPAN_GROUPS_FILE: 'file' },
    ],
    ['\\u001b[31mflags', 'stock', () => ({ specSource: saying('stock', '\u001b[31mflags') }), {}],
    ['flags', 'stock', () => ({ telemetry: { specSource: saying('stock', 'flags') } }), {}],
    [
      'NEST_LENS_SPAN_GROUPS',
      'stock',
      () => ({ specSource: saying(undefined) }),
      { NEST_LENS_SPAN_GROUPS: 'stock' },
    ],
  ])('the document says: from %s', async (source, spec, options, env) => {
    const isFile = ([name, value]: [string, string]): [string, string] => [
      name,
      value === 'file' ? fileWith('file') : value,
    ];
    setEnv(Object.fromEntries(Object.entries(env).map(isFile)));
    const lens = await appWith(typeof options === 'function' ? options() : options);
    const document = await shown(lens);
    expect(document.spec).toMatchObject({ configured: spec, active: spec });
    expect(document.spec.source.startsWith(source)).toBe(true);
  });

  it('a source that fails shows its reason in the document, and of an error that only the log says it', async () => {
    const source = saying('stock', 'flags');
    const lens = await appWith({ specSource: source });
    source.onProblem(new Error('connect ECONNREFUSED secret-host:6379'));
    source.onSpec('orders');
    source.onProblem('the flag is of another type');
    const { warnings, enabled } = await shown(lens);
    expect(warnings.map(({ code }) => code)).toEqual([
      'SPEC_SOURCE_FAILED',
      'SPEC_SOURCE_RECOVERED',
      'SPEC_SOURCE_FAILED',
    ]);
    expect(warnings[0]!.message).toContain('the log says why');
    expect(JSON.stringify(warnings)).not.toContain('secret-host');
    expect(warnings[2]!.message).toContain('the flag is of another type');
    expect(lens.warnings[0]!.message).toContain('secret-host');
    expect(enabled).toEqual(['orders']);
  });

  it('two applications of a process share the source; another one of the second is ignored, and said', async () => {
    const [source, other] = [saying('stock'), saying('orders')];
    const first = await appWith({ specSource: source });
    const second = await appWith({ specSource: source });
    const third = await appWith({ specSource: other });
    expect([source.watched, other.watched, codesOf(third)]).toEqual([1, 0, ['OPTIONS_IGNORED']]);
    expect(third.warnings[0]!.details).toMatchObject({ options: ['specSource'] });
    await first.close();
    await third.close();
    source.onSpec('all');
    expect([source.stopped, (await shown(second)).enabled]).toEqual([0, ['orders', 'stock']]);
    await second.close();
    expect([source.watched, source.stopped]).toEqual([1, 1]);
    await appWith({ specSource: source });
    expect(source.watched).toBe(2);
  });

  it('two applications that name one file ask for the same', async () => {
    const path = fileWith('stock');
    await appWith({ specSource: fileSpecSource(path) });
    const second = await appWith({ specSource: fileSpecSource(path) });
    expect(codesOf(second)).toEqual([]);
  });

  it('a source that is none stops the start, also one that a factory gives', async () => {
    const bad = { specSource: { name: 'flags' } as never };
    expect(() => NestLensModule.forRoot(bad)).toThrow(
      'NestLensModule.forRoot: specSource.watch must be a method',
    );
    const module = NestLensModule.forRootAsync({ useFactory: () => ({ telemetry: bad }) });
    await expect(lensApp(express).withoutRoot().imports(module).start()).rejects.toThrow(
      /telemetry\.specSource\.watch/,
    );
    expect(() =>
      NestLensModule.forRoot({ config: { specSource: saying('all') } as never, specsource: 1 } as never),
    ).toThrow(/specSource/);
  });

  it('an application that closes while its source begins ends it', async () => {
    let begun!: (stop: () => void) => void;
    let ends = 0;
    const source = new ScriptedSource(() => new Promise((resolve) => (begun = resolve)));
    const starting = appWith({ specSource: source });
    await until(() => source.watched === 1);
    const lens = await starting;
    const closing = lens.close();
    begun(() => void ends++);
    await closing;
    await until(() => ends > 0);
    expect([ends, codesOf(lens)]).toEqual([1, []]);
  });
});
