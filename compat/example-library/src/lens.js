'use strict';

/**
 * NestLens if the application has it, else functions of the same names that do nothing. Those are NestLens's own
 * fallbacks, which build.js has copied beside this file: they can't be taken from a package that isn't there.
 */
function loadLens() {
  try {
    return require('nest-lens/core');
  } catch (error) {
    // NestLens isn't installed, or not what it needs, @opentelemetry/api. Any other error is one to see.
    if (error.code !== 'MODULE_NOT_FOUND') throw error;
    return require('./lens-fallbacks.js');
  }
}

module.exports = loadLens();
