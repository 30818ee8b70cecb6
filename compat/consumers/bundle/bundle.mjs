// Twice: with the names of classes kept, as docs/versions.md advises, and with everything minified.
import { build } from 'esbuild';

// What Nest asks for only if the application uses it, and does without otherwise.
const external = [
  '@nestjs/microservices',
  '@nestjs/websockets',
  '@fastify/multipart',
  '@fastify/static',
  '@fastify/view',
  'class-transformer',
  'class-validator',
];
const options = {
  entryPoints: ['dist/main.js'],
  bundle: true,
  minify: true,
  platform: 'node',
  target: 'node20',
  format: 'cjs',
  external,
  logLevel: 'warning',
};
await build({ ...options, keepNames: true, outfile: 'bundled/named.js' });
await build({ ...options, outfile: 'bundled/minified.js' });
