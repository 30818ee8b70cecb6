// What a bundler makes of NestLens: it builds with and without the optional SDK, which stays outside, the bundle runs, and
// it has nothing that the program doesn't use.
import { execFileSync } from 'node:child_process';
import { appendFileSync, existsSync, mkdirSync, readFileSync } from 'node:fs';
import { BUNDLERS } from './bundlers.mjs';

const mode = existsSync('node_modules/@opentelemetry/sdk-node') ? 'own' : 'SDK_NOT_FOUND';

// Ceilings in kB, minified, a tenth above what was measured; consumers/size/measure.mjs says why there are any. With
// @opentelemetry/api, 12 kB. CommonJS can't be shaken: all of the core is in it.
const PROGRAMS = [
  { file: 'core.cjs', format: 'cjs', prints: `work\n${mode}\n`, ceiling: 191 },
  { file: 'core.mjs', format: 'esm', prints: `work\n${mode}\n`, ceiling: 128 },
  { file: 'gate.mjs', format: 'esm', prints: 'false\n', ceiling: 2.3 },
];
/** Rollup by itself doesn't minify. */
const TIMES = { rollup: 3.3 };

mkdirSync('out', { recursive: true });
const lines = [];
const complaints = [];
for (const [name, bundle] of Object.entries(BUNDLERS)) {
  for (const { file, format, prints, ceiling } of PROGRAMS) {
    const output = `out/${name}-${file}`;
    const warnings = await bundle(`programs/${file}`, output, format);
    const printed = execFileSync(process.execPath, [output], { encoding: 'utf8' });
    const text = readFileSync(output, 'utf8');
    const size = text.length / 1000;
    const limit = ceiling * (TIMES[name] ?? 1);
    const foreign = /["'](@nestjs|rxjs|reflect-metadata)/.exec(text)?.[1];
    lines.push(`${name}, ${file}: ${size.toFixed(1)} kB; at most ${limit.toFixed(1)} kB`);
    if (warnings.length > 0) complaints.push(`${name} warns about ${file}: ${warnings.join('\n')}`);
    if (printed !== prints) complaints.push(`${output} prints ${JSON.stringify(printed)}`);
    if (size > limit) complaints.push(`${output} has ${size} kB, more than ${limit}`);
    if (foreign !== undefined) complaints.push(`${output} imports ${foreign}`);
  }
}
console.log(lines.join('\n'));
for (const complaint of complaints) console.error(complaint);
process.exitCode = complaints.length > 0 ? 1 : 0;
appendFileSync(
  process.env.NEST_LENS_COMPAT_REPORT,
  `${JSON.stringify({ node: process.versions.node, note: lines.join('\n      ') })}\n`,
);
