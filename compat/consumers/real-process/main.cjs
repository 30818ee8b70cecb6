require('reflect-metadata');
const startShop = require('./shop.cjs');

void startShop({
  common: require('@nestjs/common'),
  core: require('@nestjs/core'),
  lens: require('nest-lens'),
  api: require('@opentelemetry/api'),
});
