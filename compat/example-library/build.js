'use strict';

// The sources, and NestLens's fallbacks beside them. Those import nothing, so a copy of the one file works wherever the
// library does; a bundler would make the same of it. They are as old as the NestLens that the library was built with,
// which is enough: what a library calls in them does nothing.
const { copyFileSync, cpSync, rmSync } = require('node:fs');

rmSync('dist', { recursive: true, force: true });
cpSync('src', 'dist', { recursive: true });
copyFileSync(require.resolve('nest-lens/fallbacks'), 'dist/lens-fallbacks.js');
