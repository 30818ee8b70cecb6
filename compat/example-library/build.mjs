// Both module formats of the library. NestLens's fallbacks import nothing, so a copy of that one file works wherever the library
// does. It is as old as the NestLens that the library is built with, which is enough: what a library calls in it does nothing.
import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';

const require = createRequire(import.meta.url);
const fallbacks = require.resolve('nest-lens/fallbacks');
copyFileSync(fallbacks, 'src/lens-fallbacks.cjs');
copyFileSync(fallbacks.replace(/\.js$/, '.d.ts'), 'src/lens-fallbacks.d.cts');

rmSync('dist', { recursive: true, force: true });
for (const [folder, project] of [
  ['dist/esm', 'tsconfig.json'],
  ['dist/cjs', 'tsconfig.cjs.json'],
]) {
  execFileSync(process.execPath, [require.resolve('typescript/bin/tsc'), '-p', project], {
    stdio: 'inherit',
  });
  mkdirSync(folder, { recursive: true });
  for (const file of ['lens.cjs', 'lens.d.cts', 'lens-fallbacks.cjs', 'lens-fallbacks.d.cts']) {
    copyFileSync(`src/${file}`, `${folder}/${file}`);
  }
}
writeFileSync('dist/cjs/package.json', '{ "type": "commonjs" }\n');
