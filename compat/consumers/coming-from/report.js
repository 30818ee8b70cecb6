const { appendFileSync } = require('node:fs');

appendFileSync(process.env.NEST_LENS_COMPAT_REPORT, `${JSON.stringify({ node: process.versions.node })}\n`);
