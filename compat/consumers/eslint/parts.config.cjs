const nestLens = require('nest-lens/eslint');

// What `require` gives is a plugin as it is.
module.exports = [{ plugins: { 'nest-lens': nestLens }, rules: { ...nestLens.configs.recommended.rules } }];
