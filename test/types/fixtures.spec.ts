// The fixtures beside this file are compiled, never run. `npm run compat` compiles them against the packed package with
// the oldest and the newest compiler as well.
import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, jest } from '@jest/globals';
import ts from 'typescript';
import { compareErrors, readExpectedErrors } from './expected-errors.mjs';

// The compiler reads Nest's declarations too.
jest.setTimeout(120_000);

const root = fileURLToPath(new URL('../..', import.meta.url));
const folder = fileURLToPath(new URL('.', import.meta.url));
const names = readdirSync(folder).filter((name) => /^(pass|fail)-.*\.ts$/.test(name));
const sources = new Map(names.map((name) => [name, readFileSync(join(folder, name), 'utf8')]));

function compile(): { file: string; line: number; code: string; message: string }[] {
  const { config } = ts.readConfigFile(join(root, 'tsconfig.json'), (path) => ts.sys.readFile(path)) as {
    config: object;
  };
  const files = names.map((name) => join(folder, name));
  const { options } = ts.parseJsonConfigFileContent({ ...config, include: [], files }, ts.sys, root);
  const program = ts.createProgram(files, { ...options, noEmit: true });
  return ts.getPreEmitDiagnostics(program).map(({ file, start, code, messageText }) => ({
    file: file === undefined ? '' : basename(file.fileName),
    line: file === undefined ? 0 : file.getLineAndCharacterOfPosition(start ?? 0).line + 1,
    code: `TS${code}`,
    message: ts.flattenDiagnosticMessageText(messageText, ' '),
  }));
}

describe('The type fixtures', () => {
  it('those that pass expect no error, and those that fail expect several', () => {
    expect(names.length).toBeGreaterThanOrEqual(6);
    for (const [name, source] of sources) {
      const { size } = readExpectedErrors(source);
      expect([name, name.startsWith('fail-') ? size > 2 : size === 0]).toEqual([name, true]);
    }
  });

  it('have exactly the errors that they name', () => {
    expect(compareErrors(compile(), sources)).toEqual([]);
  });
});
