'use strict';

require('./check-library.cjs').check((name) => require(name));
