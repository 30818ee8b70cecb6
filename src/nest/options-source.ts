import type { FactoryProvider, Provider } from '@nestjs/common';
import { createError, NestLensError } from '../core/diagnostics/errors.js';
import { checkModuleOptions } from './check-module-options.js';
import type {
  NestLensAsyncOptions,
  NestLensModuleAsyncOptions,
  NestLensModuleOptions,
  NestLensOptionsFactory,
} from './nest-lens-options.js';

/** The source of the options of one `forRoot`. */
export interface OptionsSource {
  readonly providers?: Provider[];
  readonly inject: NonNullable<FactoryProvider['inject']>;
  read(...injected: unknown[]): NestLensAsyncOptions | Promise<NestLensAsyncOptions>;
}

/** The source of options that are made asynchronously or from injected providers. */
export function asyncSource({
  useFactory,
  useClass,
  useExisting,
  inject,
}: NestLensModuleAsyncOptions): OptionsSource {
  const made = useClass ?? useExisting;
  if (useFactory !== undefined) return { inject: inject ?? [], read: checked(useFactory) };
  if (made === undefined) throw createError(NestLensError, 'NO_OPTIONS_FACTORY');
  return {
    providers: useClass === undefined ? [] : [useClass],
    inject: [made],
    read: checked((factory: NestLensOptionsFactory) => factory.createNestLensOptions()),
  };
}

function checked(make: NonNullable<NestLensModuleAsyncOptions['useFactory']>): OptionsSource['read'] {
  return async (...injected) => {
    const options: NestLensModuleOptions = (await make(...injected)) ?? {};
    checkModuleOptions('The factory of NestLensModule.forRootAsync', options);
    if (options.introspection !== undefined) throw createError(NestLensError, 'INTROSPECTION_TOO_LATE');
    return options;
  };
}
