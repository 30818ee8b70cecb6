import { describe, expect, it } from 'vitest';
import {
  type CanActivate,
  type DynamicModule,
  type ExecutionContext,
  ForbiddenException,
  Injectable,
  Module,
  type Type,
} from '@nestjs/common';
import { LazyModuleLoader, NestFactory } from '@nestjs/core';
import {
  type IntrospectionOptions,
  NestLensModule,
  type NestLensModuleAsyncOptions,
  type NestLensModuleOptions,
} from 'nest-lens';
import { express, onEachPlatform } from '../support/adapters.js';
import { guardEachTest, lensApp, type LensApp } from '../support/lens-app.js';

@Injectable()
class OperatorGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    if (context.switchToHttp().getRequest<{ headers: object }>().headers['x-operator' as never]) return true;
    throw new ForbiddenException();
  }
}
@Injectable()
class OtherGuard extends OperatorGuard {}
class NoGuard {
  mayPass = (): boolean => true;
}
/** Has its method as a field, which shows on instances only. */
class FieldGuard {
  canActivate = (): boolean => true;
}

const OPERATOR = { headers: { 'x-operator': 'yes' } };
const lens = (introspection?: NestLensModuleOptions['introspection']): DynamicModule =>
  NestLensModule.forRoot({
    registrations: [{ namespace: 'shop', groups: ['orders'] }],
    ...(introspection === undefined ? {} : { introspection }),
  });
const moduleOf = (...imports: DynamicModule[]): Type => {
  @Module({ imports })
  class SomeModule {}
  return SomeModule;
};

/** Whether the endpoint answers: to everybody, to operators, or not at all. */
async function access(app: LensApp, path = '/lens/groups'): Promise<string> {
  const [anybody, operator] = [await app.get(path), await app.get(path, OPERATOR)];
  return { 200: 'everybody', 403: 'operators', 404: 'nobody' }[anybody.status] === 'everybody'
    ? 'everybody'
    : operator.status === 200
      ? 'operators'
      : 'nobody';
}

onEachPlatform('several calls of forRoot in one application', (platform) => {
  const start = (...imports: DynamicModule[]): Promise<LensApp> =>
    lensApp(platform)
      .imports(...imports.map((root, at) => (at === 0 ? root : { module: moduleOf(root) })))
      .start();
  const guarded: IntrospectionOptions = { guards: [OperatorGuard] };

  it.each<[string, NestLensModuleOptions['introspection'], NestLensModuleOptions['introspection']]>([
    ['guards after none', {}, guarded],
    ['none after guards', guarded, {}],
    ['other guards', guarded, { guards: [OtherGuard] }],
    ['more guards', guarded, { guards: [OperatorGuard, OtherGuard] }],
    ['no route after one', guarded, false],
    ['a route after none', false, guarded],
    ['another path', { ...guarded, path: 'a' }, { ...guarded, path: 'b' }],
    ['control after none', guarded, { ...guarded, runtimeControl: true }],
    ['a page after none', guarded, { ...guarded, page: true }],
    ['other traces', { ...guarded, recentTraces: 1 }, { ...guarded, recentTraces: 2 }],
  ])('H12, N2: that ask for %s, stop the start', async (_what, first, second) => {
    await expect(start(lens(first), lens(second))).rejects.toMatchObject({
      code: 'INTROSPECTION_DIFFERS',
      message: expect.stringContaining('introspection'),
    });
  });

  it.each<[string, NestLensModuleOptions['introspection'], NestLensModuleOptions['introspection'], string]>([
    ['the same', guarded, { guards: [OperatorGuard], path: 'lens' }, 'operators'],
    ['nothing else', guarded, undefined, 'operators'],
    ['something after nothing', undefined, guarded, 'operators'],
    ['no route, and nothing', false, undefined, 'nobody'],
    ['nothing, and no route', undefined, false, 'nobody'],
    ['nothing', undefined, undefined, 'everybody'],
  ])('N2: that ask for %s, have one route that is obeyed', async (_what, first, second, who) => {
    expect(await access(await start(lens(first), lens(second)))).toBe(who);
  });

  it('N2: the same dynamic module in two applications has in each the route that it asks for', async () => {
    const shared = lens({ path: 'shared', guards: [OperatorGuard] });
    const other = lens();
    const [first, second, third] = [
      await start(shared),
      await start(shared, other),
      await start(other, shared),
    ];
    for (const app of [first, second, third]) {
      expect(await access(app, '/shared/groups')).toBe('operators');
      expect(await access(app)).toBe('nobody');
    }
    expect(await access(await start(other))).toBe('everybody');
  });
});

describe('introspection that cannot be obeyed', () => {
  guardEachTest();
  const guards = [OperatorGuard];

  it.each<[string, unknown, RegExp]>([
    ['is a switch', true, /introspection must be false or an object, not true/],
    ['is null', null, /introspection must be false or an object, not null/],
    ['is a list', [], /introspection must be false or an object, not an array/],
    ['is a string', 'lens', /introspection must be false or an object, not the string 'lens'/],
    [
      'has a misspelt key',
      { guard: guards },
      /must be path, guards, runtimeControl, page or recentTraces, not the string 'guard'/,
    ],
    ['has paths', { path: ['a', 'b'] }, /introspection\.path must be a string, not an array/],
    ['has null for a path', { path: null }, /introspection\.path must be a string, not null/],
    ['has one guard, not a list', { guards: OperatorGuard }, /guards must be an array/],
    ['has a set of guards', { guards: new Set(guards) }, /guards must be an array/],
    ['has a guard that a circular import left out', { guards: [undefined] }, /guards\[0\] must be a class/],
    ['has a hole among the guards', { guards: [OperatorGuard, , OtherGuard] }, /guards\[1\] must be a class/], // eslint-disable-line no-sparse-arrays -- a hole is the case
    ['has a guard that is none', { guards: [OperatorGuard, NoGuard] }, /guards\[1\] must be a class/],
    ['has a guard that shows no method', { guards: [FieldGuard] }, /guards\[0\] must be a class/],
    ['has a function as a guard', { guards: [() => true] }, /guards\[0\] must be a class/],
    ['has the name of a guard', { guards: ['OperatorGuard'] }, /guards\[0\] must be a class/],
    ['has an object that guards nothing', { guards: [{}] }, /guards\[0\] must be a class/],
    ['is controlled in a word', { guards, runtimeControl: 'no' }, /runtimeControl must be true or false/],
    ['is controlled by nobody', { runtimeControl: true }, /runtimeControl.*needs introspection\.guards/],
  ])('H12: since it %s, is refused where it is given', (_what, introspection, message) => {
    const given = introspection as IntrospectionOptions;
    expect(() => NestLensModule.forRoot({ introspection: given })).toThrow(message);
    expect(() => NestLensModule.forRootAsync({ introspection: given, useFactory: () => ({}) })).toThrow(
      message,
    );
  });

  @Injectable()
  class Options {
    createNestLensOptions(): NestLensModuleOptions {
      return { introspection: false };
    }
  }
  const OptionsModule: DynamicModule = { module: class {}, providers: [Options], exports: [Options] };

  it.each([
    ['a factory', { useFactory: () => ({ introspection: false as const }) }],
    ['a factory, later', { useFactory: async () => ({ introspection: { guards } }) }],
    [
      'a factory, as is given beside it',
      { introspection: { guards }, useFactory: () => ({ introspection: { guards } }) },
    ],
    ['a class', { useClass: Options }],
    ['a provider', { imports: [OptionsModule], useExisting: Options }],
  ])('H12: since it comes from %s of forRootAsync, stops the start', async (_what, options) => {
    const created = NestFactory.create(
      moduleOf(NestLensModule.forRootAsync(options as NestLensModuleAsyncOptions)),
      express.create(),
      {
        logger: false,
        abortOnError: false,
      },
    );
    await expect(created).rejects.toMatchObject({
      code: 'INTROSPECTION_TOO_LATE',
      message: expect.stringContaining('beside the factory'),
    });
  });

  it('H12: since a forRoot that is loaded lazily asks for it, is refused', async () => {
    const app = await NestFactory.create(moduleOf(lens()), express.create(), { logger: false });
    await app.init();
    const loader = app.get(LazyModuleLoader);
    await expect(loader.load(() => moduleOf(lens({ guards })))).rejects.toMatchObject({
      code: 'INTROSPECTION_DIFFERS',
    });
    await expect(loader.load(() => moduleOf(lens()))).resolves.toBeDefined();
    await app.close();
  });

  it('H12: stops an application without HTTP, too', async () => {
    const AppModule = moduleOf(lens({ guards }), { module: moduleOf(lens(false)) });
    const context = NestFactory.createApplicationContext(AppModule, { logger: false, abortOnError: false });
    await expect(context).rejects.toMatchObject({ code: 'INTROSPECTION_DIFFERS' });
  });
});

describe('options that nobody would read', () => {
  guardEachTest();
  const guards = [OperatorGuard];
  const forRoot = (given: unknown) => () => NestLensModule.forRoot(given as NestLensModuleOptions);
  const forRootAsync = (given: unknown) => () =>
    NestLensModule.forRootAsync(given as NestLensModuleAsyncOptions);

  it.each<[string, () => unknown, RegExp]>([
    ['guards', forRoot({ guards }), /forRoot:.*'guards'.*belongs under introspection\./],
    ['runtimeControl', forRoot({ runtimeControl: false }), /'runtimeControl'.*belongs under introspection\./],
    ['path', forRoot({ path: 'x' }), /'path'.*belongs under introspection\./],
    ['introspect', forRoot({ introspect: false }), /'introspect'.*mean 'introspection'\?/],
    ['guard', forRoot({ guard: guards }), /'guard'.*mean 'guards', under introspection\?/],
    ['spanGroups', forRoot({ spanGroups: 'all' }), /'spanGroups'.*belongs under config\./],
    ['spanExporter', forRoot({ spanExporter: {} }), /'spanExporter'.*belongs under telemetry\./],
    ['toString', forRoot({ toString: 1 }), /unknown option 'toString'\. Known options: registrations,/],
    ['a string', forRoot('x'), /forRoot: options must be an object, not the string 'x'/],
    ['null', forRoot(null), /forRoot: options must be an object, not null/],
    ['a list', forRoot([]), /forRoot: options must be an object, not an array/],
    ['guards beside a factory', forRootAsync({ useFactory: () => ({}), guards }), /under introspection\./],
    [
      'config beside a factory',
      forRootAsync({ useFactory: () => ({}), config: {} }),
      /what the factory returns/,
    ],
    ['nothing for a factory', forRootAsync(undefined), /forRootAsync: options must be an object/],
  ])('H12: are refused where they are given: %s', (_what, call, message) => {
    expect(call).toThrow(message);
    expect(call).toThrow(TypeError);
  });

  it.each<[string, unknown, RegExp]>([
    ['guards', { guards }, /factory of.*'guards'.*belongs under introspection, beside the factory\./],
    ['imports', { imports: [] }, /factory of.*'imports'.*belongs beside the factory\./],
    ['a string', 'x', /factory of.*options must be an object, not the string 'x'/],
    ['a mode', { telemetry: { mode: 'atach' } }, /telemetry\.mode must be 'own' or 'attach'/],
  ])('H12: stop the start when a factory gives them: %s', async (_what, given, message) => {
    const made = NestLensModule.forRootAsync({ useFactory: () => given as object });
    const created = NestFactory.create(moduleOf(made), express.create(), {
      logger: false,
      abortOnError: false,
    });
    await expect(created).rejects.toThrow(message);
  });
});

onEachPlatform('introspection that is obeyed', (platform) => {
  const start = (introspection: IntrospectionOptions): Promise<LensApp> =>
    lensApp(platform).groups('orders').forRoot({ introspection }).start();

  it.each([
    ['', '/groups'],
    ['/', '/groups'],
    ['/internal/lens/', '/internal/lens/groups'],
  ])("N7: path '%s' is %s, and guarded", async (path, url) => {
    expect(await access(await start({ path, guards: [OperatorGuard] }), url)).toBe('operators');
  });

  it.each([
    ['an instance', new OperatorGuard()],
    ['an object', { canActivate: (context: ExecutionContext) => new OperatorGuard().canActivate(context) }],
    ['a class that inherits its method', OtherGuard],
  ])('N7: %s guards the route', async (_what, guard) => {
    expect(await access(await start({ guards: [guard] }))).toBe('operators');
  });
});
