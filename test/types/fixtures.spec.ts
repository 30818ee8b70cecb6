// The fixtures beside this file are compiled, never run. `npm run compat` compiles them against the packed package with
// the oldest and the newest compiler as well.
import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, vi } from 'vitest';
import ts from 'typescript';
import { compareErrors, readExpectedErrors } from './expected-errors.mjs';

// The compiler reads Nest's declarations too.
vi.setConfig({ testTimeout: 120_000 });

const root = fileURLToPath(new URL('../..', import.meta.url));
const folder = fileURLToPath(new URL('.', import.meta.url));

interface CompilerError {
  readonly file: string;
  readonly line: number;
  readonly code: string;
  readonly message: string;
}

/** The fixtures of one program. What one file merges into `SpanGroupNames` holds for every other one beside it. */
function readFixtures(subfolder: string): Map<string, string> {
  const names = readdirSync(join(folder, subfolder)).filter((name) => /^(pass|fail)-.*\.ts$/.test(name));
  return new Map(names.map((name) => [name, readFileSync(join(folder, subfolder, name), 'utf8')]));
}

/** The declarations of the package, Nest, Node and the language, parsed once for both programs. */
const parsed = new Map<string, ts.SourceFile | undefined>();

function hostWithParsedFiles(options: ts.CompilerOptions): ts.CompilerHost {
  const host = ts.createCompilerHost(options);
  const parse = host.getSourceFile.bind(host);
  host.getSourceFile = (name, ...rest) => {
    if (!name.endsWith('.d.ts')) return parse(name, ...rest);
    if (!parsed.has(name)) parsed.set(name, parse(name, ...rest));
    return parsed.get(name);
  };
  return host;
}

/** With the package as it is built, as users have it: without the paths to its sources. */
function compile(subfolder: string, names: Iterable<string>): CompilerError[] {
  const { config } = ts.readConfigFile(join(root, 'tsconfig.json'), (path) => ts.sys.readFile(path)) as {
    config: object;
  };
  const files = [...names].map((name) => join(folder, subfolder, name));
  const { options } = ts.parseJsonConfigFileContent({ ...config, include: [], files }, ts.sys, root);
  const given = { ...options, paths: {}, noEmit: true };
  const program = ts.createProgram(files, given, hostWithParsedFiles(given));
  // Of the fixtures alone; `npm run types` checks the sources.
  const diagnostics = files.flatMap((file) => ts.getPreEmitDiagnostics(program, program.getSourceFile(file)));
  return diagnostics.map(({ file, start, code, messageText }) => ({
    file: file === undefined ? '' : basename(file.fileName),
    line: file === undefined ? 0 : file.getLineAndCharacterOfPosition(start ?? 0).line + 1,
    code: `TS${code}`,
    message: ts.flattenDiagnosticMessageText(messageText, ' '),
  }));
}

describe('The type fixtures', () => {
  const sources = readFixtures('.');

  it('those that pass expect no error, and those that fail expect several', () => {
    expect(sources.size).toBeGreaterThanOrEqual(6);
    for (const [name, source] of [...sources, ...readFixtures('merged')]) {
      const { size } = readExpectedErrors(source);
      expect([name, name.startsWith('fail-') ? size > 2 : size === 0]).toEqual([name, true]);
    }
  });

  it('have exactly the errors that they name', () => {
    expect(compareErrors(compile('.', sources.keys()), sources)).toEqual([]);
  });
});

describe('The type fixtures whose groups are merged into SpanGroupNames', () => {
  const sources = readFixtures('merged');
  const errors = compile('merged', sources.keys());

  it('have exactly the errors that they name', () => {
    expect(compareErrors(errors, sources)).toEqual([]);
  });

  it('have errors of one short line, which name the group and the choices', () => {
    const ofCalls = errors.filter(
      ({ code, message }) => code === 'TS2345' && !/DefinedSpanGroups/.test(message),
    );
    expect(ofCalls.length).toBeGreaterThan(7);
    for (const { message } of ofCalls) {
      expect(message).toMatch(/^Argument of type '"(oders|shop)"' is not assignable to parameter of type /);
      expect(message).toContain('"orders"');
      expect(message.length).toBeLessThan(200);
    }
  });
});
