// What an application loads of NestLens, its peers not counted: minified, and as it goes over a network.
import { appendFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';

// The ceilings are a tenth above what the sizes were when they were decided on, so that growth is a decision and no accident:
// a serverless function pays for each kB when it starts, and a dependency that slipped into the core would show here first.
// Raise one in the change that needs it, and say there what the kB are for. Since 53 and 81: instrumentations as
// span groups, exporter `tree`, the messages of warnings and of refused options, export reports, covered queries, carriers;
// for the fallbacks, `defineSpanGroups`. Since 95 and 139: sources of the spec, signed requests, recent traces, checked options in the
// core; the page (54 kB by itself), previews, autoGroups, routes of the endpoint in the Nest part.
const ENTRIES = [
  { entry: 'nest-lens/fallbacks', ceiling: 1.4 },
  // Loaded by editors and in CI only; its lists of verbs and its messages are a third of it.
  { entry: 'nest-lens/eslint', ceiling: 20.5 },
  { entry: 'nest-lens/core', ceiling: 124 },
  { entry: 'nest-lens', ceiling: 272 },
];

const kilobytes = (bytes) => `${(bytes / 1000).toFixed(1)} kB`;
const lines = [];
for (const { entry, ceiling } of ENTRIES) {
  const { outputFiles } = await build({
    stdin: { contents: `export * from '${entry}';`, resolveDir: '.' },
    bundle: true,
    minify: true,
    write: false,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    external: ['@opentelemetry/*', '@nestjs/*', 'rxjs', 'reflect-metadata'],
    logLevel: 'warning',
  });
  const [{ contents }] = outputFiles;
  const sizes = `${kilobytes(contents.length)} minified, ${kilobytes(gzipSync(contents).length)} compressed`;
  lines.push(`${entry}: ${sizes}; at most ${kilobytes(ceiling * 1000)}`);
  if (contents.length > ceiling * 1000) {
    console.error(
      `${entry} has ${sizes}, more than the ceiling of ${ceiling} kB; measure.mjs says why there is one.`,
    );
    process.exitCode = 1;
  }
}
appendFileSync(
  process.env.NEST_LENS_COMPAT_REPORT,
  `${JSON.stringify({ node: process.versions.node, note: lines.join('\n      ') })}\n`,
);
