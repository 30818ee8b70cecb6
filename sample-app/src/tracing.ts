// Loaded before the shop (`node --import ./dist/tracing.js dist/main.js`): instrumentations patch what is loaded after them.
// Without NEST_LENS_ENABLED=true it does nothing.
process.env['OTEL_SERVICE_NAME'] ??= 'nest-lens-sample-shop';
// Nest's handlers have spans of their own, by @SpanGroup.
process.env['OTEL_NODE_ENABLED_INSTRUMENTATIONS'] ??= 'http,express,pg';
await import('nest-lens/register');
