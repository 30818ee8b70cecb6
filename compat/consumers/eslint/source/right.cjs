const { defineSpanGroups, managedSpan } = require('nest-lens/core');

const shop = defineSpanGroups({ namespace: 'shop', groups: ['checkout'] });

exports.read = (id) =>
  managedSpan(shop.group('checkout'), 'read', { attributes: () => ({ id }) }, async () => id);
