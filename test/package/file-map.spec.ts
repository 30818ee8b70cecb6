import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from '@jest/globals';

const root = fileURLToPath(new URL('../..', import.meta.url));

describe('the file map of CONTRIBUTING.md', () => {
  const lines = readFileSync(`${root}CONTRIBUTING.md`, 'utf8')
    .split('\n')
    .filter((line) => line.startsWith('src/'));
  const mapped = lines.map((line) => /^(\S+)/.exec(line)![1]!);

  it('has one line for each file of src, and none for a file that is gone', () => {
    const files = readdirSync(`${root}src`, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name).slice(root.length).replaceAll('\\', '/'));
    expect([...mapped].sort()).toEqual(files.sort());
  });

  it('says of each what it is for, in columns that line up', () => {
    const columns = lines.map((line) => /^\S+ {2,}(?=\S)/.exec(line)?.[0].length);
    expect(new Set(columns).size).toBe(1);
    expect(columns[0]).toBeGreaterThan(20);
  });
});
