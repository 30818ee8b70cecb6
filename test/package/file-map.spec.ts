import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const root = fileURLToPath(new URL('../..', import.meta.url));

describe('the folders of CONTRIBUTING.md', () => {
  const contributing = readFileSync(`${root}CONTRIBUTING.md`, 'utf8');
  const lines = contributing.split('\n').filter((line) => line.startsWith('src/'));
  const withFiles = readdirSync(`${root}src`, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => `${join(entry.parentPath).slice(root.length).replaceAll('\\', '/')}/`);

  it('have one line for each folder of src, and none for a folder that is gone', () => {
    const mapped = lines.map((line) => /^(\S+)/.exec(line)![1]!);
    expect([...mapped].sort()).toEqual([...new Set(withFiles)].sort());
  });

  it('say of each what is in it, in columns that line up', () => {
    const columns = lines.map((line) => /^\S+ {2,}(?=\S)/.exec(line)?.[0].length);
    expect(new Set(columns).size).toBe(1);
  });

  it('have each its place in the picture of the arrows', () => {
    const picture = /```mermaid\n([\s\S]*?)```/.exec(contributing)![1]!;
    for (const folder of ['state', 'diagnostics', 'groups', 'spans', 'telemetry', 'register']) {
      expect(picture).toMatch(new RegExp(`\\b${folder}\\b`));
    }
    for (const folder of ['nest/span-group', 'nest/introspection']) expect(picture).toContain(folder);
  });
});
