import { basename, dirname, resolve } from 'node:path';
import commonjs from '@rollup/plugin-commonjs';
import nodeResolve from '@rollup/plugin-node-resolve';
import { rspack } from '@rspack/core';
import * as esbuild from 'esbuild';
import { rollup } from 'rollup';
import * as tsup from 'tsup';
import * as vite from 'vite';
import webpack from 'webpack';

// Not installed here: what a program that doesn't use Nest must not need.
const EXTERNAL = ['@nestjs/common', '@nestjs/core', 'rxjs', 'reflect-metadata'];

/** A bundler makes one minified file of a program, in the format of that program. It answers what it warned about. */
async function withEsbuild(input, output, format, options = {}) {
  const { warnings } = await esbuild.build({
    entryPoints: [input],
    outfile: output,
    bundle: true,
    minify: true,
    platform: 'node',
    target: 'node20',
    format,
    external: EXTERNAL,
    logLevel: 'silent',
    ...options,
  });
  return warnings.map(({ text }) => text);
}

/**
 * esbuild puts no `require` into an ES module that it makes, and a bundled CommonJS module needs one for Node's own modules.
 * This banner is esbuild's own advice.
 */
const REQUIRE_BANNER =
  "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);";

const withEsbuildAndRequire = (input, output, format) =>
  withEsbuild(input, output, format, format === 'esm' ? { banner: { js: REQUIRE_BANNER } } : {});

async function withTsup(input, output, format) {
  await tsup.build({
    config: false,
    entry: { [basename(output).replace(/\.\w+$/, '')]: input },
    outDir: dirname(output),
    outExtension: () => ({ js: /\.\w+$/.exec(output)[0] }),
    format,
    target: 'node20',
    minify: true,
    noExternal: [/nest-lens/, /opentelemetry/, /acme-mail/],
    external: EXTERNAL,
    silent: true,
  });
  return [];
}

const packWith = (bundler) => (input, output, format) =>
  new Promise((fulfil, reject) => {
    const isEsm = format === 'esm';
    const options = {
      mode: 'production',
      target: 'node20',
      context: process.cwd(),
      entry: resolve(input),
      externals: Object.fromEntries(
        EXTERNAL.map((name) => [name, `${isEsm ? 'module' : 'commonjs'} ${name}`]),
      ),
      output: {
        path: resolve(dirname(output)),
        filename: basename(output),
        ...(isEsm && { module: true, chunkFormat: 'module', library: { type: 'module' } }),
      },
      ...(isEsm && { experiments: { outputModule: true } }),
    };
    bundler(options, (error, stats) => {
      if (error) return reject(error);
      if (stats.hasErrors()) return reject(new Error(stats.toString({ all: false, errors: true })));
      fulfil(stats.hasWarnings() ? [stats.toString({ all: false, warnings: true })] : []);
    });
  });

async function withRollup(input, output, format) {
  const warnings = [];
  const bundle = await rollup({
    input,
    external: [...EXTERNAL, /^node:/],
    plugins: [nodeResolve({ preferBuiltins: true }), commonjs()],
    onwarn: ({ code, message }) => code !== 'THIS_IS_UNDEFINED' && warnings.push(message),
  });
  await bundle.write({ file: output, format: format === 'esm' ? 'es' : 'cjs' });
  return warnings;
}

async function withVite(input, output, format) {
  await vite.build({
    configFile: false,
    logLevel: 'error',
    ssr: { noExternal: true, external: EXTERNAL },
    build: {
      ssr: input,
      minify: true,
      outDir: resolve(dirname(output)),
      emptyOutDir: false,
      rollupOptions: {
        output: { format: format === 'esm' ? 'es' : 'cjs', entryFileNames: basename(output) },
      },
    },
  });
  return [];
}

export const BUNDLERS = {
  esbuild: withEsbuild,
  'esbuild-with-require': withEsbuildAndRequire,
  tsup: withTsup,
  webpack: packWith(webpack),
  rspack: packWith(rspack),
  rollup: withRollup,
  vite: withVite,
};
