'use strict';

const fallbacks = require('./lens-fallbacks.cjs');

/** NestLens if the application has it and what it needs, else functions of the same names that do nothing. */
function loadLens() {
  try {
    return require('nest-lens/core');
  } catch {
    return fallbacks;
  }
}

exports.lens = loadLens();
