import * as common from '@nestjs/common';
import * as core from '@nestjs/core';
import { EventEmitter } from 'node:events';
// As a whole: webpack warns about a `createRequire` that is imported by its name.
import * as nodeModule from 'node:module';
import { join } from 'node:path';
import * as stream from 'node:stream';
import { pathToFileURL } from 'node:url';
import { attemptResolve, requireOfApplication } from '../../core/telemetry/application-require.js';
import { classNameOf } from '../span-group/class-name.js';

/**
 * Modules of Nest's own packages. Nothing lists what was loaded as an ES module, so a package whose module is in the application is
 * asked by its name, which loads nothing anew, and its classes are compared.
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
 * Which of some classes are from packages. JavaScript doesn't say where a class is from, so this is known of: Node's and Nest's own
 * classes; what a CommonJS package exports; what those packages of Nest export whose modules the application has; and what such a
 * module imports by itself. Others count as the application's own.
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
  // Measured: looking through a thousand files takes a hundredth of a boot; an application without class providers does without.
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

async function exportsOf(name: string): Promise<object> {
  try {
    return (await import(/* webpackIgnore: true */ /* @vite-ignore */ name)) as object;
  } catch {
    // Not installed where NestLens sees it: where the application sees it, then.
  }
  try {
    const file = attemptResolve(requireOfApplication(name), name);
    if (file === undefined) return {};
    return (await import(/* webpackIgnore: true */ /* @vite-ignore */ pathToFileURL(file).href)) as object;
  } catch {
    return {};
  }
}

/** The imports in a package module's own `@Module` are its own choice. */
function addImports(module: object, known: Set<unknown>): void {
  for (const imported of (Reflect.getMetadata('imports', module) as unknown[] | undefined) ?? []) {
    if (typeof imported !== 'function' || known.has(imported)) continue;
    known.add(imported);
    addImports(imported, known);
  }
}

/** Tells whether a file below a `node_modules` exports a class by its name, or as the whole. */
function commonJsExports(): (Class: object) => boolean {
  const wholes = new Set<unknown>();
  const byName = new Map<string, Record<string, unknown>[]>();
  for (const [file, loaded] of Object.entries(
    nodeModule.createRequire(join(process.cwd(), 'any.js')).cache,
  )) {
    if (!/[\\/]node_modules[\\/]/.test(file)) continue;
    const exported: unknown = loaded?.exports;
    wholes.add(exported);
    if (typeof exported !== 'object' || exported === null) continue;
    for (const name of namesIn(exported)) {
      const files = byName.get(name);
      if (files === undefined) byName.set(name, [exported as Record<string, unknown>]);
      else files.push(exported as Record<string, unknown>);
    }
  }
  return (Class) => {
    if (wholes.has(Class)) return true;
    const name = classNameOf(Class);
    return (byName.get(name) ?? []).some((exported) => isExport(exported, name, Class));
  };
}

function namesIn(exported: object): string[] {
  try {
    return Object.keys(exported);
  } catch {
    return []; // a proxy that won't be looked into
  }
}

/** Many packages export by getters. Only one of this name is called. */
function isExport(exported: Record<string, unknown>, name: string, Class: object): boolean {
  try {
    return exported[name] === Class;
  } catch {
    return false;
  }
}

function isNative(Class: object): boolean {
  return Function.prototype.toString.call(Class).endsWith('{ [native code] }');
}
