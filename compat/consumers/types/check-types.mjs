// Compiles the type fixtures against the packed package: with the oldest, the usual and the newest compiler, in every
// module resolution that reads `exports`, as ES modules and as CommonJS, the declarations of all packages included.
import { execFile } from 'node:child_process';
import { appendFileSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';
import { compareErrors } from './fixtures/expected-errors.mjs';

const COMPILERS = ['5.4', '6.0', '7.0'];
// The usual compiler in all of them. What one of node16 and nodenext says on the others, the other one says as well.
const PROGRAMS = [
  { resolution: 'node16', modules: 'ESM', extension: '.mts', module: 'Node16', compilers: ['5.4', '6.0'] },
  {
    resolution: 'node16',
    modules: 'CommonJS',
    extension: '.cts',
    module: 'Node16',
    compilers: ['5.4', '6.0'],
  },
  {
    resolution: 'nodenext',
    modules: 'ESM',
    extension: '.mts',
    module: 'NodeNext',
    compilers: ['6.0', '7.0'],
  },
  {
    resolution: 'nodenext',
    modules: 'CommonJS',
    extension: '.cts',
    module: 'NodeNext',
    compilers: ['6.0', '7.0'],
  },
  { resolution: 'bundler', modules: 'ESM', extension: '.ts', module: 'ESNext', compilers: COMPILERS },
];

const run = promisify(execFile);
/** The fixtures of one folder are a program: what one of them merges into an interface holds for all. */
const FOLDERS = ['.', 'merged'];
const namesIn = (folder) => readdirSync(join('fixtures', folder)).filter((name) => name.endsWith('.ts'));
const isFixture = (name) => /^(pass|fail)-/.test(name) && !name.includes('.spec.');
const nestVersion = JSON.parse(readFileSync('node_modules/@nestjs/common/package.json', 'utf8')).version;
const isNestEsmOnly = Number(nestVersion.split('.')[0]) >= 12;

function layProgram({ resolution, modules, extension, module }, from) {
  const folder = join('programs', `${resolution}-${modules}`, from);
  mkdirSync(folder, { recursive: true });
  const sources = new Map();
  for (const name of namesIn(from)) {
    const extensionOfJs = extension.replace('t', 'j');
    const source = readFileSync(join('fixtures', from, name), 'utf8').replace(
      /(from '\.\/[a-z-]+)\.js'/g,
      `$1${extensionOfJs}'`,
    );
    const renamed = name.replace(/\.ts$/, extension);
    if (from === '.' && !isFixture(name)) continue;
    writeFileSync(join(folder, renamed), source);
    sources.set(renamed, source);
  }
  const compilerOptions = {
    target: 'ES2022',
    lib: ['ES2023', 'ESNext.Disposable'],
    module,
    moduleResolution: resolution,
    types: ['node'],
    strict: true,
    experimentalDecorators: true,
    emitDecoratorMetadata: true,
    skipLibCheck: false,
    noEmit: true,
  };
  writeFileSync(
    join(folder, 'tsconfig.json'),
    JSON.stringify({ compilerOptions, files: [...sources.keys()] }),
  );
  return { folder, sources };
}

/** The errors that a compiler prints, or a reason why it printed none. */
async function compile(compiler, folder) {
  const entry = ['lib/tsc.js', 'bin/tsc.js', 'bin/tsc']
    .map((path) => join('node_modules', `typescript-${compiler}`, path))
    .find((path) => existsSync(path));
  const output = await run(process.execPath, [entry, '-p', folder, '--pretty', 'false'], {
    maxBuffer: 64 * 1024 * 1024,
  }).then(
    ({ stdout }) => stdout,
    (error) => error.stdout || String(error),
  );
  const found = [];
  for (const line of output.split('\n').filter((text) => text.trim() !== '' && !/^\s/.test(text))) {
    const parts = /^(.+?)\((\d+),\d+\): error (TS\d+): (.*)$/.exec(line);
    if (parts === null) found.push({ file: '', line: 0, code: '', message: line });
    else {
      const [, path, number, code, message] = parts;
      const isFixture = path.includes('programs');
      found.push({ file: isFixture ? basename(path) : path, line: Number(number), code, message });
    }
  }
  return found;
}

const done = [];
for (const program of PROGRAMS) {
  // Nest 12 is ESM only. That CommonJS may `require` such a package is known to nodenext alone, from TypeScript 5.8 on.
  if (isNestEsmOnly && program.modules === 'CommonJS' && program.resolution === 'node16') continue;
  for (const from of FOLDERS) {
    const { folder, sources } = layProgram(program, from);
    for (const compiler of program.compilers) {
      const name = `TypeScript ${compiler}, ${program.resolution}, ${program.modules}, ${from}`;
      const differences = compareErrors(await compile(compiler, folder), sources);
      if (differences.length > 0) {
        process.exitCode = 1;
        console.log(`${name}:\n  ${differences.slice(0, 30).join('\n  ')}`);
      }
      done.push(name);
    }
  }
}
const note = `${FOLDERS.flatMap(namesIn).filter(isFixture).length} fixtures in ${done.length} programs: TypeScript ${COMPILERS.join(', ')}; node16, nodenext and bundler; ESM and CommonJS; skipLibCheck off`;
appendFileSync(
  process.env.NEST_LENS_COMPAT_REPORT,
  `${JSON.stringify({ node: process.versions.node, note })}\n`,
);
