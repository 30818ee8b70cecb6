const nestLens = require('nest-lens/eslint');

module.exports = [nestLens.configs.recommended];
