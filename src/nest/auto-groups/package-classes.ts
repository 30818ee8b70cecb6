import * as common from '@nestjs/common';
import * as core from '@nestjs/core';
import { EventEmitter } from 'node:events';
// Imported as a whole, because webpack warns about an import of `createRequire` by name.
import * as nodeModule from 'node:module';
import { join } from 'node:path';
import * as stream from 'node:stream';
import { pathToFileURL } from 'node:url';
import { attemptResolve, requireOfApplication } from '../../core/telemetry/application-require.js';
import { classNameOf } from '../span-group/class-name.js';

/**
 * Modules of Nest's own packages. Nothing lists loaded ES modules, so a package whose module is in the application is
 * imported by its name, which loads nothing new, and its classes are compared.
 */
const NEST_PACKAGES: Readonly<Record<string, string>> = {
  BullModule: 'bullmq',
  CacheModule: 'cache-manager',
  ClientsModule: 'microservices',
  ConfigModule: 'config',
  ConfigHostModule: 'config',
  CqrsModule: 'cqrs',
  ElasticsearchModule: 'elasticsearch',
  EventEmitterModule: 'event-emitter',
  GraphQLModule: 'graphql',
  HttpModule: 'axios',
  JwtModule: 'jwt',
  MikroOrmModule: 'mikro-orm',
  MongooseModule: 'mongoose',
  PassportModule: 'passport',
  ScheduleModule: 'schedule',
  SequelizeModule: 'sequelize',
  ServeStaticModule: 'serve-static',
  TerminusModule: 'terminus',
  ThrottlerModule: 'throttler',
  TypeOrmModule: 'typeorm',
};

/**
 * Finds the classes that come from packages. JavaScript doesn't tell the origin of a class, so it knows these only: Node's
 * and Nest's own classes, the exports of CommonJS packages, the exports of those packages of Nest whose module the
 * application imports, and the modules that such a module imports. All others count as the application's own.
 *
 * @param modules the module classes of the application
 */
export async function packageClasses(modules: ReadonlySet<object>): Promise<(Class: object) => boolean> {
  const known = new Set<unknown>([
    EventEmitter,
    ...Object.values(common),
    ...Object.values(core),
    ...Object.values<unknown>({ ...stream }),
  ]);
  const packages = new Set([...modules].flatMap((module) => NEST_PACKAGES[classNameOf(module)] ?? []));
  for (const name of packages) {
    for (const exported of Object.values(await exportsOf(`@nestjs/${name}`))) known.add(exported);
  }
  // Measured: looking through a thousand files takes a hundredth of a boot. It is skipped if there are no class providers.
  let isExported: ((Class: object) => boolean) | undefined;
  const isOfPackage = (Class: object): boolean => known.has(Class) || isExported!(Class) || isNative(Class);
  return (Class) => {
    if (isExported === undefined) {
      isExported = commonJsExports();
      for (const module of modules) if (isOfPackage(module)) addImports(module, known);
    }
    return isOfPackage(Class);
  };
}

const IN_PACKAGE = /[\\/]node_modules[\\/]/;

async function exportsOf(name: string): Promise<object> {
  try {
    return (await import(/* webpackIgnore: true */ /* @vite-ignore */ name)) as object;
  } catch {
    // If NestLens can't find the package, it is looked for from the application.
  }
  try {
    const file = attemptResolve(requireOfApplication(name), name);
    if (file === undefined) return {};
    return (await import(/* webpackIgnore: true */ /* @vite-ignore */ pathToFileURL(file).href)) as object;
  } catch {
    return {};
  }
}

/** The imports in a package module's own `@Module` belong to the package. */
function addImports(module: object, known: Set<unknown>): void {
  for (const imported of (Reflect.getMetadata('imports', module) as unknown[] | undefined) ?? []) {
    if (typeof imported !== 'function' || known.has(imported)) continue;
    known.add(imported);
    addImports(imported, known);
  }
}

/** Returns a check whether a file below a `node_modules` exports a class by its name, as its default, or as the whole module. */
function commonJsExports(): (Class: object) => boolean {
  const { cache } = nodeModule.createRequire(join(process.cwd(), 'any.js'));
  const exportsOfPackages = Object.keys(cache)
    .filter((file) => IN_PACKAGE.test(file))
    .map((file): unknown => cache[file]?.exports);
  const objects = exportsOfPackages.filter((exported) => typeof exported === 'object' && exported !== null);
  const wholesAndDefaults = new Set([...exportsOfPackages, ...objects.map(defaultOf)]);
  // Few classes of an application have the name of an export. Only for those are the exports searched.
  const names = new Set(objects.flatMap(namesIn));
  return (Class) => {
    if (wholesAndDefaults.has(Class)) return true;
    const name = classNameOf(Class);
    return names.has(name) && objects.some((exported) => isExport(exported, name, Class));
  };
}

/** A getter isn't called, because it may load a file. */
function defaultOf(exported: object): unknown {
  try {
    return Object.getOwnPropertyDescriptor(exported, 'default')?.value;
  } catch {
    return undefined; // A proxy that refuses to be read.
  }
}

function namesIn(exported: object): string[] {
  try {
    return Object.keys(exported);
  } catch {
    return []; // A proxy that refuses to be read.
  }
}

/** Many packages export by getters, so only the getter of this name is called. */
function isExport(exported: object, name: string, Class: object): boolean {
  try {
    return Object.hasOwn(exported, name) && (exported as Record<string, unknown>)[name] === Class;
  } catch {
    return false;
  }
}

function isNative(Class: object): boolean {
  return Function.prototype.toString.call(Class).endsWith('{ [native code] }');
}
