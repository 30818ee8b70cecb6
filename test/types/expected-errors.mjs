// What a fixture says about itself: `// error TS2322 or TS2820` names the error of the next line, by any of the numbers
// that the supported compilers give it. A line without such a comment must compile.

/**
 * @param {string} source
 * @returns {Map<number, string[]>} line -> the numbers of which it must have one
 */
export function readExpectedErrors(source) {
  const expected = new Map();
  source.split(/\r?\n/).forEach((text, index) => {
    const codes = /^\s*\/\/ error (TS\d+(?: or TS\d+)*)$/.exec(text)?.[1];
    if (codes !== undefined) expected.set(index + 2, codes.split(' or '));
  });
  return expected;
}

/**
 * What a compiler found, against what the fixtures say. Empty when the two agree.
 *
 * @param {{ file: string, line: number, code: string, message: string }[]} found
 * @param {Map<string, string>} sources file -> source
 * @returns {string[]}
 */
export function compareErrors(found, sources) {
  const differences = [];
  for (const [file, source] of sources) {
    const expected = readExpectedErrors(source);
    const ofFile = found.filter((error) => error.file === file);
    for (const [line, codes] of expected) {
      if (!ofFile.some((error) => error.line === line && codes.includes(error.code))) {
        const instead = ofFile.filter((error) => error.line === line).map(({ code }) => code);
        differences.push(
          `${file}:${line} compiles, or with other errors than ${codes.join(' or ')}: [${instead.join(', ')}]`,
        );
      }
    }
    for (const { line, code, message } of ofFile) {
      if (!expected.has(line)) differences.push(`${file}:${line} ${code} ${message}`);
    }
  }
  for (const { file, line, code, message } of found) {
    if (!sources.has(file)) differences.push(`${file}:${line} ${code} ${message}`);
  }
  return differences;
}
