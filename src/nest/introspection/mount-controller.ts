import { Controller, type Type, UseGuards, VERSION_NEUTRAL } from '@nestjs/common';
import type { Guard } from './read-guards.js';

/** Swagger's mark for a controller that its document leaves out. It is written out, because Swagger may not be installed. */
const EXCLUDE_FROM_SWAGGER = 'swagger/apiExcludeController';

/** Gives a controller of one `forRoot` its path and its guards, which are metadata of the class. */
export function mountController(Class: Type<object>, path: string, guards: readonly Guard[]): Type<object> {
  Controller({ path, version: VERSION_NEUTRAL })(Class);
  if (guards.length > 0) UseGuards(...guards)(Class);
  Reflect.defineMetadata(EXCLUDE_FROM_SWAGGER, [true], Class);
  return Class;
}
