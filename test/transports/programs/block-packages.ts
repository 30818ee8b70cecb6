import Module, { register } from 'node:module';

// Makes the packages of NestLens's optional companions unfindable, for `import` and for `require`.
const BLOCKED = [
  '@nestjs/microservices',
  '@nestjs/websockets',
  '@nestjs/platform-ws',
  '@nestjs/graphql',
  '@nestjs/apollo',
  '@nestjs/swagger',
  '@nestjs/schedule',
  '@nestjs/event-emitter',
  '@nestjs/cqrs',
  '@nestjs/platform-fastify',
  '@opentelemetry/instrumentation-http',
  'graphql',
  'ws',
];

const hooks = `
  const blocked = ${JSON.stringify(BLOCKED)};
  export function resolve(specifier, context, next) {
    if (!blocked.some((name) => specifier === name || specifier.startsWith(name + '/'))) return next(specifier, context);
    throw Object.assign(new Error('Cannot find package ' + specifier), { code: 'ERR_MODULE_NOT_FOUND' });
  }
`;
register(`data:text/javascript,${encodeURIComponent(hooks)}`);

type Resolve = (request: string, ...rest: unknown[]) => string;
const module = Module as unknown as { _resolveFilename: Resolve };
const resolveFilename = module._resolveFilename;
module._resolveFilename = (request, ...rest) => {
  if (BLOCKED.some((name) => request === name || request.startsWith(`${name}/`))) {
    throw Object.assign(new Error(`Cannot find module ${request}`), { code: 'MODULE_NOT_FOUND' });
  }
  return resolveFilename(request, ...rest);
};
