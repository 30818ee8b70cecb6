module.exports = {
  apps: [
    {
      name: 'shop',
      script: 'dist/main.js',
      node_args: '--import nest-lens/register',
      kill_timeout: 10_000, // more than shutdownTimeoutMs (5,000) and what your own hooks take
      env: { NEST_LENS_ENABLED: 'true', NEST_LENS_SPAN_GROUPS: 'default' },
    },
  ],
};
